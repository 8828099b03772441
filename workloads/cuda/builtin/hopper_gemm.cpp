// SPDX-License-Identifier: Apache-2.0
// The matrix products of hgemm_ladder.cu (compute capability 9.0). Elements are small multiples of
// a power of two, so that all sums are exact in whatever way a Tensor Core adds, and results are
// compared bit by bit.
#include <algorithm>
#include <array>
#include <bit>

#include "isa/sass/tma/tensor_map.h"
#include "sim/numerics/bf16.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

constexpr int kRowBytes = 128, kAlignment = 1024;  // of the tiles of A and B
constexpr int kRows = 128;                         // of C's tile from step 3 on
constexpr int kWarpgroupRows = 64;
constexpr int kTile2 = 64;  // rows and columns of C's tile in step 2
// Shared memory that lets an SM hold two CTAs of step 3: the published kernel takes 195 registers
// (ptxas 13.0), ours, which checks the edges of C, fewer.
constexpr std::uint32_t kTwoCtasBytes = 80 << 10;

/// Tiles of a kernel of hgemm_ladder.cu.
struct Tiling {
    const char* kernel;
    int columns, consumers, stages;
    bool is_persistent;
    int cluster;
    bool stores_by_tma;
    int element_bytes;

    int depth() const { return kRowBytes / element_bytes; }
    std::uint32_t shared_bytes() const {
        const int result = stores_by_tma ? kRows * columns * 2 : 0;
        return static_cast<std::uint32_t>(stages * (kRows + columns) * kRowBytes + kAlignment +
                                          result);
    }
};

// Steps 4 to 10.
constexpr std::array kSteps = {
    Tiling{"hgemm_ladder_4", 128, 1, 5, false, 1, false, 2},
    Tiling{"hgemm_ladder_5", 256, 2, 3, false, 1, false, 2},
    Tiling{"hgemm_ladder_6", 256, 2, 3, true, 1, false, 2},
    Tiling{"hgemm_ladder_7", 256, 2, 3, true, 1, false, 2},
    Tiling{"hgemm_ladder_8", 256, 2, 3, true, 2, false, 2},
    Tiling{"hgemm_ladder_9", 256, 2, 3, true, 2, true, 2},
    Tiling{"hgemm_ladder_10", 256, 2, 3, true, 2, true, 2},
};
constexpr Tiling kFp8{"fp8gemm_wgmma", 128, 2, 6, true, 1, false, 1};
constexpr Tiling kInt8{"igemm_wgmma", 128, 2, 6, true, 1, false, 1};

/// C lies in memory by rows or by columns, its lines.
struct Sizes {
    int m, n, k;
    bool by_columns;
    int pitch, c_pitch;  ///< elements of a row of A and B, of a line of C: multiples of 16 bytes
    Sizes(const Run& run, int element_bytes, bool c_by_columns)
        : m(run["m"]),
          n(run["n"]),
          k(run["k"]),
          by_columns(c_by_columns),
          pitch(padded(k, 16 / element_bytes)),
          c_pitch(padded(by_columns ? m : n, 8)) {
        run.count({m, pitch});
        run.count({n, pitch});
        run.count({lines(), c_pitch});
    }
    int lines() const { return by_columns ? n : m; }
    static int padded(int size, int unit) { return (size + unit - 1) / unit * unit; }
};

template <class T>
sass::TensorMap map_of(const Array<T>& matrix, sass::TensorType type, int rows, int columns,
                       int pitch, int box_columns, int box_rows) {
    sass::TensorMap map;
    map.address = matrix.address;
    map.rank = 2;
    map.type = type;
    map.swizzle = sass::TensorSwizzle::k128;
    map.size = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)};
    map.stride = {static_cast<std::uint64_t>(pitch) * sizeof(T)};
    map.box = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows)};
    map.step = {1, 1};
    return map;
}

/// Zeros where a row is padded.
template <class T, class F>
void clear_padding(const Array<T>& matrix, int rows, int columns, int pitch, F convert) {
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < pitch; ++i) {
            T& x = matrix.view()[static_cast<std::size_t>(r) * pitch + i];
            x = i < columns ? convert(x) : T{};
        }
}

template <class T, class Out>
void launch(Run& run, const Tiling& tiling, const Sizes& s, sass::TensorType type,
            const Array<T>& a, const Array<T>& b, const Array<Out>& c) {
    const auto rows = static_cast<int>(blocks_for(s.m, kRows));
    const int tile_rows = Sizes::padded(rows, tiling.cluster);
    const auto tile_columns = static_cast<int>(blocks_for(s.n, tiling.columns));
    int ctas = run.count({tile_rows, tile_columns});
    if (tiling.is_persistent) ctas = std::min(ctas, Sizes::padded(run["ctas"], tiling.cluster));
    // What is no BF16 is stored without a map.
    sass::TensorMap c_map = map_of(a, type, s.m, s.k, s.pitch, tiling.depth(), kRows);
    if (tiling.stores_by_tma) {
        c_map = map_of(c, type, s.n, s.m, s.c_pitch, kWarpgroupRows, tiling.columns);
        c_map.swizzle = sass::TensorSwizzle::kNone;
    }
    run.launch({"hgemm_ladder", tiling.kernel}, {static_cast<unsigned>(ctas)},
               {static_cast<unsigned>(128 * (1 + tiling.consumers))}, tiling.shared_bytes(),
               Arguments(map_of(a, type, s.m, s.k, s.pitch, tiling.depth(), kRows),
                         map_of(b, type, s.n, s.k, s.pitch, tiling.depth(), tiling.columns), c_map,
                         c, s.lines(), s.c_pitch, tile_rows, tile_columns,
                         static_cast<int>(blocks_for(s.k, tiling.depth()))));
}

/// The sum of products of a row of A and a row of B, integers all, or 0 in C's padding.
template <class T, class F>
std::int64_t dot(const Sizes& s, const Array<T>& a, const Array<T>& b, int index, F value) {
    const int line = index / s.c_pitch, in_line = index % s.c_pitch;
    const int row = s.by_columns ? in_line : line, col = s.by_columns ? line : in_line;
    if (row >= s.m || col >= s.n) return 0;
    const T* const x = &a.view()[static_cast<std::size_t>(row) * s.pitch];
    const T* const y = &b.view()[static_cast<std::size_t>(col) * s.pitch];
    std::int64_t sum = 0;
    for (int i = 0; i < s.k; ++i) sum += std::int64_t{value(x[i])} * value(y[i]);
    return sum;
}

void hgemm_ladder(Run& run) {
    const int step = run["step"];
    const Sizes s(run, 2, true);
    constexpr int kLimit = 8;  // multiples of 1/8 in [-1, 1]: sums are exact up to k = 2^17
    constexpr float kUnit = 0.125f;
    const auto bits = [](std::uint16_t x) {
        return numerics::fp32_to_bf16(static_cast<std::int16_t>(x) * kUnit);
    };
    const auto a = run.integers<std::uint16_t>(std::size_t(s.m) * s.pitch, -kLimit, kLimit);
    const auto b = run.integers<std::uint16_t>(std::size_t(s.n) * s.pitch, -kLimit, kLimit);
    clear_padding(a, s.m, s.k, s.pitch, bits);
    clear_padding(b, s.n, s.k, s.pitch, bits);
    const auto c = run.zeros<std::uint16_t>(std::size_t(s.lines()) * s.c_pitch);
    if (step == 1) {
        run.launch({"hgemm_ladder", "hgemm_ladder_1"}, {blocks_for(s.n, 32), blocks_for(s.m, 8)},
                   {32, 8}, 0, Arguments(a, b, c, s.m, s.n, s.k, s.pitch, s.c_pitch));
    } else if (step <= 3) {
        const int tile = step == 2 ? kTile2 : kRows, depth = kRowBytes / 2;
        const auto type = sass::TensorType::kBf16;
        const auto tile_rows = blocks_for(s.m, tile), tile_columns = blocks_for(s.n, tile);
        const sass::TensorMap a_map = map_of(a, type, s.m, s.k, s.pitch, depth, tile);
        run.launch({"hgemm_ladder", step == 2 ? "hgemm_ladder_2" : "hgemm_ladder_3"},
                   {tile_columns, tile_rows}, {128},
                   step == 2 ? 2 * kTile2 * kRowBytes + kAlignment : kTwoCtasBytes,
                   Arguments(a_map, map_of(b, type, s.n, s.k, s.pitch, depth, tile), a_map, c, s.n,
                             s.c_pitch, static_cast<int>(tile_rows), static_cast<int>(tile_columns),
                             static_cast<int>(blocks_for(s.k, depth))));
    } else {
        launch(run, kSteps.at(static_cast<std::size_t>(step - 4)), s, sass::TensorType::kBf16, a, b,
               c);
    }
    const auto value = [](std::uint16_t x) {
        return static_cast<int>(numerics::bf16_to_fp32(x) / kUnit);
    };
    run.check_values<std::uint16_t>("c", c, [&](int i) {
        return numerics::fp32_to_bf16(static_cast<float>(dot(s, a, b, i, value)) * kUnit * kUnit);
    });
}

void fp8gemm(Run& run) {
    const Sizes s(run, 1, false);
    constexpr int kLimit = 2;  // integers in [-2, 2]: a stage's sums need 10 bits
    const auto bits = [](std::uint8_t x) -> std::uint8_t {
        constexpr std::uint8_t kOne = 0x38, kTwo = 0x40, kSign = 0x80;  // E4M3
        const int value = static_cast<std::int8_t>(x);
        const std::uint8_t magnitude = value == 0 ? 0 : value * value == 1 ? kOne : kTwo;
        return static_cast<std::uint8_t>(magnitude | (value < 0 ? kSign : 0));
    };
    const auto value = [](std::uint8_t x) {
        const int magnitude = (x & 0x7f) == 0 ? 0 : (x & 0x7f) == 0x38 ? 1 : 2;
        return x & 0x80 ? -magnitude : magnitude;
    };
    const auto a = run.integers<std::uint8_t>(std::size_t(s.m) * s.pitch, -kLimit, kLimit);
    const auto b = run.integers<std::uint8_t>(std::size_t(s.n) * s.pitch, -kLimit, kLimit);
    clear_padding(a, s.m, s.k, s.pitch, bits);
    clear_padding(b, s.n, s.k, s.pitch, bits);
    const auto c = run.zeros<float>(std::size_t(s.lines()) * s.c_pitch);
    launch(run, kFp8, s, sass::TensorType::kU8, a, b, c);
    run.check_bits("c", c, [&](int i) { return static_cast<float>(dot(s, a, b, i, value)); });
}

void igemm(Run& run) {
    const Sizes s(run, 1, false);
    const auto a = run.integers<std::int8_t>(std::size_t(s.m) * s.pitch, -128, 127);
    const auto b = run.integers<std::int8_t>(std::size_t(s.n) * s.pitch, -128, 127);
    const auto same = [](std::int8_t x) { return x; };
    clear_padding(a, s.m, s.k, s.pitch, same);
    clear_padding(b, s.n, s.k, s.pitch, same);
    const auto c = run.zeros<int>(std::size_t(s.lines()) * s.c_pitch);
    launch(run, kInt8, s, sass::TensorType::kU8, a, b, c);
    run.check_exact("c", c, [&](int i) { return dot(s, a, b, i, same); });
}

}  // namespace

std::vector<Workload> hopper_gemm_workloads() {
    const std::vector<ParameterInfo> sizes = {
        size_parameter("m", 512, "rows of A and C", 1 << 24),
        size_parameter("n", 512, "rows of B, columns of C", 1 << 24),
        size_parameter("k", 512, "columns of A and B", 1 << 16),
        {"ctas", 128, 1, 1 << 16, "CTAs of a persistent kernel"}};
    auto steps = sizes;
    steps.push_back(
        {"step", 10, 1, 10,
         "1 naive, 2 wgmma of 64x64, 3 of 128x128, 4 a warpgroup that loads, 5 tiles of "
         "128x256, 6 persistent, 7 fewer arrivals, 8 clusters and multicast, 9 C by "
         "TMA, 10 tiles along a Hilbert curve"});
    return {
        {"hgemm_ladder",
         "BF16 GEMM by steps, B and C stored transposed: wgmma, TMA, clusters (compute "
         "capability 9.0)",
         steps, hgemm_ladder, 90},
        {"fp8gemm_wgmma",
         "FP8 GEMM with promoted sums, B stored transposed: wgmma, TMA (compute capability 9.0)",
         sizes, fp8gemm, 90},
        {"igemm_wgmma", "INT8 GEMM, B stored transposed: wgmma, TMA (compute capability 9.0)",
         sizes, igemm, 90},
    };
}

}  // namespace lockstep::cuda
