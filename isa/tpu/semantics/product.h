// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the array on a whole tile at once.
#pragma once

#include <cstdint>

namespace lockstep::tpu {

/// What leaves the array: sums[m][n] of a[m][k] * w[k][n], k from 0 up, all row-major and dense.
struct TileProduct {
    const float* a;
    const float* w;  ///< rows `w_pitch` apart
    std::uint32_t rows, lanes, columns, w_pitch;
};

/// Integers that fp32 or fp64 sums exactly; acc[m][n] (pitch apart) gets or adds the sum modulo
/// 2^32. `wide`: operands of 16 bits.
void integer_product(const TileProduct& product, bool wide, bool accumulate, std::uint32_t* acc,
                     std::uint32_t acc_pitch);

/// bf16 values: products and sums rounded to fp32 one by one. acc holds fp32 bits.
void bf16_product(const TileProduct& product, bool accumulate, std::uint32_t* acc,
                  std::uint32_t acc_pitch);

}  // namespace lockstep::tpu
