// SPDX-License-Identifier: Apache-2.0
// A box of a tensor, row by row: where in global memory a row lies, how much of it is within the
// tensor, and where it lies in shared memory.
#pragma once

#include <array>
#include <cstdint>

#include "isa/sass/tma/tensor_map.h"

namespace lockstep::sass {

/// One row of a box: elements that are consecutive in both memories.
struct BoxRow {
    std::uint32_t shared = 0;  ///< offset in the tile in shared memory, before swizzling
    std::uint32_t bytes = 0;   ///< of the row
    // The part [first, first + count) of these bytes lies within the tensor, the rest is filled.
    std::uint32_t first = 0, count = 0;
    std::uint64_t global = 0;  ///< address of byte `first`
};

/// Goes through the rows in the order in which they lie in shared memory. The map breaks no rule.
class BoxRows {
  public:
    /// `offset`: im2col, of the filter tap, for W, H, D.
    BoxRows(const TensorMap& map, const std::array<std::int32_t, kMaxTensorRank>& coordinate,
            const std::array<std::int32_t, 3>& offset = {});

    bool next(BoxRow& row);

    /// Bytes that a tile of this map takes in shared memory, and that its copy reports.
    static std::uint32_t tile_bytes(const TensorMap& map);

  private:
    void step_tiled();
    void step_im2col();

    const TensorMap& map_;
    unsigned element_;
    std::uint32_t row_elements_, row_bytes_;
    std::uint32_t slices_;  ///< of channels, where the tensor is interleaved; else 1
    std::uint32_t slice_ = 0;
    std::uint64_t slice_stride_ = 0;
    std::array<std::uint32_t, kMaxTensorRank> count_{}, index_{};  ///< of dimensions 1 and up
    std::array<std::int64_t, kMaxTensorRank> start_{}, at_{};
    std::array<std::int32_t, 3> offset_{};
    std::uint32_t pixel_ = 0;
    std::uint32_t rows_left_, shared_ = 0;
};

/// Where byte `address` of shared memory lies by the map's swizzle: chunks of 16 bytes change
/// places by bits 7-9 of their address.
constexpr std::uint32_t swizzled(std::uint32_t address, TensorSwizzle swizzle) {
    const std::uint32_t mask = (1u << static_cast<unsigned>(swizzle)) - 1;
    return address ^ (address >> 7 & mask) << 4;
}

}  // namespace lockstep::sass
