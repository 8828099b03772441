// SPDX-License-Identifier: Apache-2.0
// Matrix products: SGEMM step by step, its transposed forms, FP16 and INT8 on Tensor Cores.
#include <cmath>

#include "sim/numerics/fp16.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

struct Sizes {
    int m, n, k;
    explicit Sizes(const Run& run) : m(run["m"]), n(run["n"]), k(run["k"]) {
        run.count({m, n});
        run.count({m, k});
        run.count({k, n});
    }
};

// alpha * op(A) * op(B) + beta * C in double, row by row. at_a(row, k), at_b(k, col).
template <class A, class B>
std::vector<Expected> reference_gemm(const Sizes& s, A at_a, B at_b) {
    std::vector<Expected> c(std::size_t(s.m) * s.n);
    for (int row = 0; row < s.m; ++row) {
        Expected* out = &c[std::size_t(row) * s.n];
        for (int i = 0; i < s.k; ++i) {
            const double a = at_a(row, i);
            for (int col = 0; col < s.n; ++col) {
                const double term = a * at_b(i, col);
                out[col].value += term;
                out[col].magnitude += std::abs(term);
            }
        }
    }
    return c;
}

void sgemm(Run& run, KernelName name, int tile, sass::Dim3 block, bool a_transposed = false,
           bool b_transposed = false) {
    const Sizes s(run);
    const float alpha = 1.5f, beta = 0.5f;
    const auto a = run.uniform(std::size_t(s.m) * s.k), b = run.uniform(std::size_t(s.k) * s.n);
    const auto c = run.uniform(std::size_t(s.m) * s.n);
    const std::vector<float> before(c.view().begin(), c.view().end());
    run.launch(name, {blocks_for(s.n, tile), blocks_for(s.m, tile)}, block, 0,
               Arguments(a, b, c, s.m, s.n, s.k, alpha, beta));
    if (!run.verify()) return;
    const auto product = reference_gemm(
        s,
        [&](int row, int i) {
            return a.view()[a_transposed ? std::size_t(i) * s.m + row : std::size_t(row) * s.k + i];
        },
        [&](int i, int col) {
            return b.view()[b_transposed ? std::size_t(col) * s.k + i : std::size_t(i) * s.n + col];
        });
    run.check("c", c, s.k + 4.0, [&](int i) {
        return Expected{alpha * product[i].value + beta * before[i],
                        alpha * product[i].magnitude + std::abs(beta * before[i])};
    });
}

// The elements are multiples of 1/64 in [-1, 1]: all products are multiples of 2^-12 and, up to
// k = 2048, no partial sum needs more than 24 bits, so the result is exact in whatever order and
// with whatever truncation a Tensor Core adds. Beyond, it may cut off up to a whole last bit of the
// largest addend at each step, which is twice a rounding.
struct HalfProduct {
    KernelName name;
    int rows, columns;  ///< of a CTA's tile
    unsigned threads;
    std::uint32_t shared_bytes = 0;  ///< dynamic
};

/// `more` are arguments after the sizes.
template <class... More>
void hgemm(Run& run, const HalfProduct& kernel, More... more) {
    const Sizes s(run);
    const auto a = run.uniform_half(std::size_t(s.m) * s.k);
    const auto b = run.uniform_half(std::size_t(s.k) * s.n);
    const auto c = run.zeros<float>(std::size_t(s.m) * s.n);
    run.launch(kernel.name, {blocks_for(s.n, kernel.columns), blocks_for(s.m, kernel.rows)},
               {kernel.threads}, kernel.shared_bytes, Arguments(a, b, c, s.m, s.n, s.k, more...));
    if (!run.verify()) return;
    const auto product = reference_gemm(
        s,
        [&](int row, int i) {
            return numerics::fp16_to_fp64(a.view()[std::size_t(row) * s.k + i]);
        },
        [&](int i, int col) {
            return numerics::fp16_to_fp64(b.view()[std::size_t(i) * s.n + col]);
        });
    if (s.k <= 2048) {
        run.check_bits("c", c, [&](int i) { return static_cast<float>(product[i].value); });
        return;
    }
    run.check("c", c, 2.0 * s.k, [&](int i) { return product[i]; });
}

void hgemm_wgmma(Run& run) {
    const int columns = run["columns"], stages = run["stages"], warpgroups = run["warpgroups"];
    constexpr const char* kNames[] = {"hgemm_wgmma_64", "hgemm_wgmma_128", nullptr,
                                      "hgemm_wgmma_256"};
    const char* const name = columns % 64 == 0 ? kNames[columns / 64 - 1] : nullptr;
    if (name == nullptr)
        throw InputError(fmt::format("columns={}: a tile has 64, 128 or 256", columns));
    const int rows = 64 * warpgroups;
    constexpr int kRowBytes = 128, kAlignment = 1024;
    hgemm(run,
          {{"hgemm_wgmma", name},
           rows,
           columns,
           static_cast<unsigned>(128 * warpgroups),
           static_cast<std::uint32_t>(stages * (rows + columns) * kRowBytes + kAlignment)},
          stages);
}

void igemm(Run& run) {
    const Sizes s(run);
    const auto a = run.integers<std::int8_t>(std::size_t(s.m) * s.k, -128, 127);
    const auto b = run.integers<std::int8_t>(std::size_t(s.n) * s.k, -128, 127);
    const auto c = run.zeros<int>(std::size_t(s.m) * s.n);
    run.launch({"igemm", "igemm"}, {blocks_for(s.n, 64), blocks_for(s.m, 64)}, {128}, 0,
               Arguments(a, b, c, s.m, s.n, s.k));
    run.check_exact("c", c, [&](int i) {
        const std::int8_t* row = &a.view()[std::size_t(i / s.n) * s.k];
        const std::int8_t* col = &b.view()[std::size_t(i % s.n) * s.k];
        std::int64_t sum = 0;
        for (int j = 0; j < s.k; ++j) sum += row[j] * col[j];
        return sum;
    });
}

}  // namespace

std::vector<Workload> gemm_workloads() {
    const auto sizes = [](std::int64_t max_k) {
        return std::vector<ParameterInfo>{
            size_parameter("m", 256, "rows of A and C", 65535 * 16),
            size_parameter("n", 256, "columns of B and C"),
            size_parameter("k", 256, "columns of A, rows of B", max_k),
        };
    };
    const auto any_k = sizes(kMaxSize);
    auto wgmma_parameters = any_k;
    wgmma_parameters.push_back({"columns", 128, 64, 256, "columns of a CTA's tile: 64, 128, 256"});
    wgmma_parameters.push_back({"warpgroups", 2, 1, 2, "each computes 64 rows of a CTA's tile"});
    wgmma_parameters.push_back({"stages", 3, 2, 4, "tiles in shared memory"});
    return {
        {"sgemm", "FP32 C = alpha * A * B + beta * C, register-blocked", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_register_blocked", "sgemm_register_blocked"}, 128, {256});
         }},
        {"sgemm_naive", "FP32 GEMM, one thread an element", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_naive", "sgemm_naive"}, 16, {16, 16});
         }},
        {"sgemm_shared", "FP32 GEMM, tiles in shared memory", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_shared", "sgemm_shared"}, 32, {32, 32});
         }},
        {"sgemm_vectorised", "FP32 GEMM, 16-byte accesses", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_vectorised", "sgemm_vectorised"}, 128, {256});
         }},
        {"sgemm_double_buffered", "FP32 GEMM, two buffers filled by cp.async", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_double_buffered", "sgemm_double_buffered"}, 128, {256});
         }},
        {"sgemm_nn", "FP32 GEMM, small tiles", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_transposed", "sgemm_nn"}, 64, {256});
         }},
        {"sgemm_nt", "FP32 GEMM with B stored transposed", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_transposed", "sgemm_nt"}, 64, {256}, false, true);
         }},
        {"sgemm_tn", "FP32 GEMM with A stored transposed", any_k,
         [](Run& run) {
             sgemm(run, {"sgemm_transposed", "sgemm_tn"}, 64, {256}, true, false);
         }},
        {"hgemm", "FP16 GEMM with FP32 sums: mma.sync, ldmatrix, cp.async", any_k,
         [](Run& run) {
             hgemm(run, {{"hgemm", "hgemm"}, 128, 128, 256});
         }},
        {"hgemm_wmma", "FP16 GEMM with FP32 sums through WMMA", any_k,
         [](Run& run) {
             hgemm(run, {{"hgemm_wmma", "hgemm_wmma"}, 64, 64, 128});
         }},
        {"hgemm_wgmma", "FP16 GEMM with FP32 sums: wgmma, cp.async (compute capability 9.0)",
         wgmma_parameters, hgemm_wgmma, 90},
        {"igemm", "INT8 GEMM with INT32 sums, B stored transposed", sizes(1 << 16), igemm},
    };
}

}  // namespace lockstep::cuda
