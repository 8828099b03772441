// SPDX-License-Identifier: Apache-2.0
// The rows of a product in pieces that go through the array together.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/network/shapes/window.h"
#include "workloads/network/tpu/staging.h"

namespace lockstep::network::lowering {

/// Lines of an image that an instruction pools, or of whole images.
struct PoolPiece {
    std::int64_t row, rows;          ///< of the block
    std::int64_t height;             ///< lines of an image
    std::int64_t first_line, lines;  ///< pooled ones, of an image
    std::int64_t result;             ///< row of the block's results
};
/// Rows that go through the array together, with their place in the unified buffer.
struct Block {
    std::int64_t first = 0, rows = 0;  ///< of the result
    BufferRows source;
    std::int64_t first_row = 0, height = 0, out_height = 0, pad_top = 0;
    std::int64_t result_first = 0, result_rows = 0;  ///< where it is pooled on the way
    std::vector<PoolPiece> pieces;
};

inline constexpr std::int64_t kAnyLines = -1;
/// Blocks of at most `limit` rows of the images [n, c, height, width]; each of up to `images`
/// whole ones, or of lines of one; kAnyLines: of any lines that follow each other.
std::vector<Block> pool_blocks(const SlidingWindow& pool, const Shape& shape, std::int64_t limit,
                               std::int64_t images);

}  // namespace lockstep::network::lowering
