// SPDX-License-Identifier: Apache-2.0
// Tensor Cores through mma.sync, and ldmatrix (micro_matrix.cu): latency of a chain through the
// accumulator, and how often a sub-core takes one. A's and B's elements are constants whose
// products sum to 1 over k (to k for integers), so that accumulators count the steps.
#include <bit>

#include "sim/error/error.h"
#include "sim/numerics/fp16.h"
#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_matrix";
constexpr int kChains = 8, kStepsAnIteration = 4;

/// Adds one of `k` equal parts of 1 for each of the k products of a step.
struct Shape {
    const char* name;  ///< the kernels are latency_mma_NAME and throughput_mma_NAME
    int m, n, k;
    int arch;
    std::uint64_t a, b;  ///< bit patterns of the operands: registers full of one element
    char accumulator;    ///< f: FP32, h: pairs of FP16, s: 32-bit integers, d: FP64
};

constexpr std::uint64_t kHalfOne = 0x3c003c00, kBf16One = 0x3f803f80, kFloatOne = 0x3f800000,
                        kDoubleOne = 0x3ff0000000000000, kByteOne = 0x01010101;
// 1/4, 1/8, 1/16 in those formats.
constexpr std::uint64_t kHalfEighth = 0x30003000, kHalfSixteenth = 0x2c002c00,
                        kBf16Eighth = 0x3e003e00, kBf16Sixteenth = 0x3d803d80,
                        kFloatQuarter = 0x3e800000, kFloatEighth = 0x3e000000,
                        kDoubleQuarter = 0x3fd0000000000000;

const Shape kShapes[] = {
    {"f16_16x8x8_f32", 16, 8, 8, 75, kHalfOne, kHalfEighth, 'f'},
    {"f16_16x8x8_f16", 16, 8, 8, 75, kHalfOne, kHalfEighth, 'h'},
    {"f16_16x8x16_f32", 16, 8, 16, 80, kHalfOne, kHalfSixteenth, 'f'},
    {"f16_16x8x16_f16", 16, 8, 16, 80, kHalfOne, kHalfSixteenth, 'h'},
    {"bf16_16x8x8", 16, 8, 8, 80, kBf16One, kBf16Eighth, 'f'},
    {"bf16_16x8x16", 16, 8, 16, 80, kBf16One, kBf16Sixteenth, 'f'},
    {"tf32_16x8x4", 16, 8, 4, 80, kFloatOne, kFloatQuarter, 'f'},
    {"tf32_16x8x8", 16, 8, 8, 80, kFloatOne, kFloatEighth, 'f'},
    {"s8_8x8x16", 8, 8, 16, 75, kByteOne, kByteOne, 's'},
    {"s8_16x8x16", 16, 8, 16, 80, kByteOne, kByteOne, 's'},
    {"s8_16x8x32", 16, 8, 32, 80, kByteOne, kByteOne, 's'},
    {"f64_8x8x4", 8, 8, 4, 80, kDoubleOne, kDoubleQuarter, 'd'},
};

/// T: what the kernel's accumulator registers are.
template <class T>
void mma(Run& run, const Shape& shape) {
    const int warps = run["warps"], threads = 32 * warps;
    const int registers = shape.m * shape.n / 32 / (shape.accumulator == 'h' ? 2 : 1);
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto operands = run.zeros<std::uint64_t>(2);
    const bool wide = shape.accumulator == 'd';
    operands.view()[0] = wide ? shape.a : shape.b << 32 | shape.a;
    operands.view()[1] = shape.b;
    const auto result = run.zeros<T>(static_cast<std::size_t>(kChains) * registers * threads);
    const auto counted = [&](int steps) {
        if (shape.accumulator == 'h')
            return static_cast<T>(numerics::fp32_to_fp16(static_cast<float>(steps)) * 0x10001u);
        return static_cast<T>(steps * (shape.accumulator == 's' ? shape.k : 1));
    };

    run.launch({kFile, std::string("latency_mma_") + shape.name}, {1}, {32}, 0,
               Arguments(cycles, result, operands));
    run.measure("latency", chain_latency(cycles), "cycles");
    run.check_values<T>("chain", result.part(0, static_cast<std::size_t>(registers) * 32),
                        [&](int) { return counted(kChainSteps); });

    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, std::string("throughput_mma_") + shape.name}, {1},
                   {static_cast<unsigned>(threads)}, 0,
                   Arguments(cycles, result, operands, iterations));
    });
    const double each = kChains * kStepsAnIteration * warps;
    run.measure("interval", 4 * time / each, "cycles/instruction/sub-core");
    run.measure("rate", each * shape.m * shape.n * shape.k / time, "FMA/cycle/SM");
    run.check_values<T>("chains", result,
                        [&](int) { return counted(2 * kManyIterations * kStepsAnIteration); });
}

Workload workload(const Shape& shape) {
    return {std::string("micro_mma_") + shape.name,
            fmt::format("latency and throughput of mma.sync m{}n{}k{}", shape.m, shape.n, shape.k),
            {{"warps", 16, 4, 32, "warps of the one block; a multiple of 4 loads all sub-cores"}},
            [&shape](Run& run) {
                need_arch(run, shape.arch, std::string("mma.sync ") + shape.name);
                if (shape.accumulator == 'f')
                    mma<float>(run, shape);
                else if (shape.accumulator == 'd')
                    mma<double>(run, shape);
                else
                    mma<std::uint32_t>(run, shape);
            }};
}

void ldmatrix(Run& run) {
    const int warps = run["warps"], matrices = run["matrices"];
    if (matrices == 3) throw InputError("micro_ldmatrix: matrices must be 1, 2 or 4");
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto result = run.zeros<std::uint32_t>(static_cast<std::size_t>(warps) * 64);
    run.launch({kFile, fmt::format("latency_ldmatrix_x{}", matrices)}, {1}, {32}, 0,
               Arguments(cycles, result));
    run.measure("latency", chain_latency(cycles), "cycles");
    run.check_values<std::uint32_t>("rows", result.part(0, 32),
                                    [](int lane) { return static_cast<std::uint32_t>(16 * lane); });
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, fmt::format("throughput_ldmatrix_x{}", matrices)}, {1},
                   {32u * static_cast<unsigned>(warps)}, 0, Arguments(cycles, result, iterations));
    });
    run.measure("interval", time / (16.0 * warps), "cycles/instruction/SM");
    run.measure("bandwidth", 16.0 * warps * matrices * 128 / time, "bytes/cycle/SM");
}

}  // namespace

std::vector<Workload> matrix_workloads() {
    std::vector<Workload> list;
    for (const Shape& shape : kShapes) list.push_back(workload(shape));
    list.push_back({"micro_ldmatrix",
                    "latency and throughput of ldmatrix",
                    {warps_parameter(16), {"matrices", 4, 1, 4, "8x8 matrices: 1, 2 or 4"}},
                    [](Run& run) {
                        need_arch(run, 75, "ldmatrix");
                        ldmatrix(run);
                    }});
    return list;
}

}  // namespace lockstep::cuda::micro
