// SPDX-License-Identifier: Apache-2.0
// The arithmetic of an array of multipliers on a whole tile at once: TPUs and NPUs.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::product {

/// What leaves the array: sums[m][n] of a[m][k] * w[k][n], k from 0 up, all row-major and dense.
struct TileProduct {
    const float* a;
    const float* w;  ///< rows `w_pitch` apart
    std::uint32_t rows, lanes, columns, w_pitch;
};

/// bf16 values: products and sums rounded to fp32 one by one. acc holds fp32 bits, rows `acc_pitch`
/// apart.
void bf16_product(const TileProduct& product, bool accumulate, std::uint32_t* acc,
                  std::uint32_t acc_pitch);
/// The same where the sums stay in the array: each product is added to what acc holds by then.
void bf16_product_onto(const TileProduct& product, std::uint32_t* acc, std::uint32_t acc_pitch);

/// How far apart rows of integers lie for `lanes` of them: pairs of lanes are multiplied together.
constexpr std::uint32_t integer_pitch(std::uint32_t lanes) {
    return lanes + lanes % 2;
}

/// Integer weights [lane][column], laid out for the host: two lanes side by side.
class IntegerWeights {
  public:
    IntegerWeights() = default;
    /// Rows of w lie `pitch` apart.
    IntegerWeights(const std::int16_t* w, std::uint32_t lanes, std::uint32_t columns,
                   std::uint32_t pitch);

    std::uint32_t lanes() const { return lanes_; }
    std::uint32_t columns() const { return columns_; }
    /// Pairs of lanes from the first on, for `vectors` host vectors of columns from `column` on.
    const std::uint32_t* block(std::uint32_t column) const;

  private:
    std::uint32_t lanes_ = 0, columns_ = 0;
    std::vector<std::uint32_t> pairs_;
};

/// Integers of up to 16 bits: acc[m][n] (rows `acc_pitch` apart) gets, or adds, the sum modulo
/// 2^32. Rows of a lie integer_pitch(lanes) apart, an odd last lane beside a 0. `lanes` and
/// `columns` are at most those of w.
void integer_product(const std::int16_t* a, std::uint32_t rows, std::uint32_t lanes,
                     const IntegerWeights& w, std::uint32_t columns, bool accumulate,
                     std::uint32_t* acc, std::uint32_t acc_pitch);

}  // namespace lockstep::product
