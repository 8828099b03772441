// SPDX-License-Identifier: Apache-2.0
// What copies tiles by the tensor memory accelerator (compute capability 9.0).
#include "isa/sass/tma/tensor_map.h"
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

/// A row of floats begins at a multiple of 16 bytes, as TMA wants it.
int pitch_of(int columns) {
    constexpr int kFloats = 4;
    return (columns + kFloats - 1) / kFloats * kFloats;
}

sass::TensorMap map_of(const Array<float>& matrix, int rows, int columns, unsigned box_columns,
                       unsigned box_rows,
                       sass::TensorSwizzle swizzle = sass::TensorSwizzle::kNone) {
    sass::TensorMap map;
    map.address = matrix.address;
    map.rank = 2;
    map.type = sass::TensorType::kF32;
    map.swizzle = swizzle;
    map.size = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)};
    map.stride = {static_cast<std::uint64_t>(pitch_of(columns)) * sizeof(float)};
    map.box = {box_columns, box_rows};
    map.step = {1, 1};
    return map;
}

void stencil(Run& run) {
    const int h = run["h"], w = run["w"], tiles = run["tiles"], stages = run["stages"];
    const int pitch = pitch_of(w);
    const auto count = static_cast<std::size_t>(run.count({h, pitch}));
    constexpr unsigned kWidth = 32, kHeight = 16, kBoxWidth = kWidth + 8, kBoxHeight = kHeight + 2;
    constexpr std::uint32_t kBoxPitch = (kBoxWidth * kBoxHeight * 4 + 127) / 128 * 128;
    constexpr float kCentre = 0.5f, kSide = 0.125f;
    const auto in = run.uniform(count), out = run.zeros<float>(count);
    run.launch({"stencil_tma", "stencil_tma"},
               {blocks_for(w, kWidth), blocks_for(h, static_cast<int>(kHeight) * tiles)}, {256},
               static_cast<std::uint32_t>(stages) * kBoxPitch,
               Arguments(map_of(in, h, w, kBoxWidth, kBoxHeight),
                         map_of(out, h, w, kWidth, kHeight), tiles, stages, kCentre, kSide));
    const auto at = [&](int y, int x) {
        return x < 0 || x >= w || y < 0 || y >= h ? 0.0 : in.view()[std::size_t(y) * pitch + x];
    };
    constexpr double kRoundings = 6;
    run.check("out", out, kRoundings, [&](int i) -> Expected {
        const int y = i / pitch, x = i % pitch;
        if (x >= w) return {};
        ReferenceSum sum;
        sum.add(kCentre * at(y, x));
        for (const auto& [dy, dx] : {std::pair{0, -1}, {0, 1}, {-1, 0}, {1, 0}})
            sum.add(kSide * at(y + dy, x + dx));
        return sum;
    });
}

void transpose(Run& run) {
    const int rows = run["rows"], columns = run["cols"];
    const int in_pitch = pitch_of(columns), out_pitch = pitch_of(rows);
    const auto in = run.uniform(static_cast<std::size_t>(run.count({rows, in_pitch})));
    const auto out = run.zeros<float>(static_cast<std::size_t>(run.count({columns, out_pitch})));
    constexpr unsigned kTile = 32;
    run.launch({"transpose_tma", "transpose_tma"},
               {blocks_for(columns, kTile), blocks_for(rows, kTile)}, {256}, 0,
               Arguments(map_of(in, rows, columns, kTile, kTile, sass::TensorSwizzle::k128),
                         map_of(out, columns, rows, kTile, kTile, sass::TensorSwizzle::k128)));
    run.check_bits("out", out, [&](int i) {
        const int y = i / out_pitch, x = i % out_pitch;
        return x < rows ? in.view()[std::size_t(x) * in_pitch + y] : 0.0f;
    });
}

}  // namespace

std::vector<Workload> tensor_copy_workloads() {
    return {
        {"stencil_tma",
         "five-point stencil, tiles by TMA (compute capability 9.0)",
         {size_parameter("h", 256, "rows of the grid", 65535 * 16),
          size_parameter("w", 256, "columns of the grid"),
          {"tiles", 4, 1, 1024, "tiles of 16 rows that a CTA computes"},
          {"stages", 3, 2, 4, "tiles in shared memory"}},
         stencil,
         90},
        {"transpose_tma",
         "matrix transposition, swizzled tiles by TMA (compute capability 9.0)",
         {size_parameter("rows", 256, "rows of the input", 65535 * 32),
          size_parameter("cols", 256, "columns of the input")},
         transpose,
         90},
    };
}

}  // namespace lockstep::cuda
