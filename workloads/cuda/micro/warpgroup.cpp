// SPDX-License-Identifier: Apache-2.0
// Tensor Cores through wgmma (hopper/micro_wgmma.cu): how long the wait for one product takes, and
// how often an SM takes one. A's and B's elements are constants whose products sum to 1 over k (to
// k for integers), so that accumulators count the products.
#include <bit>

#include "sim/error/error.h"
#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_wgmma";
constexpr int kProducts = 16;    // of an iteration
constexpr int kWaitClocks = 64;  // where the kernel leaves the time of a wait

struct Shape {
    const char* name;  ///< the kernel is wgmma_NAME
    int n, k;          ///< k: kept ones where A is sparse
    std::uint32_t a, b;
    bool integer = false;
};

constexpr std::uint32_t kHalfOne = 0x3c003c00, kHalfSixteenth = 0x2c002c00, kFloatOne = 0x3f800000,
                        kFloatEighth = 0x3e000000, kE4m3One = 0x38383838,
                        kE4m3ThirtySecond = 0x10101010, kByteOne = 0x01010101, kOnes = 0xffffffff;
/// Of each two pairs of numbers the first two are kept.
constexpr std::uint32_t kMetadata = 0x44444444;

const Shape kShapes[] = {
    {"f16_8", 8, 16, kHalfOne, kHalfSixteenth},
    {"f16_16", 16, 16, kHalfOne, kHalfSixteenth},
    {"f16_32", 32, 16, kHalfOne, kHalfSixteenth},
    {"f16_64", 64, 16, kHalfOne, kHalfSixteenth},
    {"f16_128", 128, 16, kHalfOne, kHalfSixteenth},
    {"f16_256", 256, 16, kHalfOne, kHalfSixteenth},
    {"f16_8_registers", 8, 16, kHalfOne, kHalfSixteenth},
    {"f16_16_registers", 16, 16, kHalfOne, kHalfSixteenth},
    {"f16_32_registers", 32, 16, kHalfOne, kHalfSixteenth},
    {"f16_64_registers", 64, 16, kHalfOne, kHalfSixteenth},
    {"f16_128_registers", 128, 16, kHalfOne, kHalfSixteenth},
    {"f16_256_registers", 256, 16, kHalfOne, kHalfSixteenth},
    {"tf32_256", 256, 8, kFloatOne, kFloatEighth},
    {"e4m3_256", 256, 32, kE4m3One, kE4m3ThirtySecond},
    {"s8_256", 256, 32, kByteOne, kByteOne, true},
    {"b1_256", 256, 256, kOnes, kOnes, true},
    {"sparse_f16_256", 256, 16, kHalfOne, kHalfSixteenth},
    {"sparse_f16_256_registers", 256, 16, kHalfOne, kHalfSixteenth},
};

/// T: what an accumulator register is.
template <class T>
void wgmma(Run& run, const Shape& shape) {
    const int warpgroups = run["warpgroups"], warps = 4 * warpgroups, threads = 128 * warpgroups;
    const Clocks cycles = run.zeros<std::uint64_t>(kWaitClocks + 1);
    const auto patterns = run.zeros<std::uint32_t>(3);
    patterns.view()[0] = shape.a;
    patterns.view()[1] = shape.b;
    patterns.view()[2] = kMetadata;
    const auto result = run.zeros<T>(static_cast<std::size_t>(shape.n / 2) * threads);
    const std::string kernel = std::string("wgmma_") + shape.name;
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, kernel}, {1}, {static_cast<unsigned>(threads)}, 0,
                   Arguments(cycles, result, patterns, iterations));
    });
    const double products = kProducts * warpgroups;
    run.measure("wait", static_cast<double>(cycles.view()[kWaitClocks]), "cycles");
    run.measure("interval", time / products, "cycles/product/SM");
    run.measure("rate", products * 64 * shape.n * shape.k / time, "FMA/cycle/SM");
    const int each = shape.integer ? shape.k : 1;
    run.check_values<T>("sums", result, [&](int) {
        return static_cast<T>(2 * (1 + kManyIterations * kProducts) * each);
    });
}

}  // namespace

std::vector<Workload> warpgroup_workloads() {
    std::vector<Workload> list;
    for (const Shape& shape : kShapes)
        list.push_back({std::string("micro_wgmma_") + shape.name,
                        fmt::format("wait for and rate of wgmma m64n{}, {}", shape.n, shape.name),
                        {{"warpgroups", 1, 1, 2, "warpgroups of the one block"}},
                        [&shape](Run& run) {
                            need_arch(run, 90, std::string("wgmma ") + shape.name);
                            if (shape.integer)
                                wgmma<std::uint32_t>(run, shape);
                            else
                                wgmma<float>(run, shape);
                        },
                        90});
    return list;
}

}  // namespace lockstep::cuda::micro
