// SPDX-License-Identifier: Apache-2.0
// Operands for a matrix product by itself, and the check of its result against the plain
// definition.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/network/graph/products.h"

namespace lockstep::network {

/// The sum of an element's products; defined for the two types.
template <typename T>
struct ProductSum;

/// One of the `count` products of a node, with seeded operands. T: int32_t holds int8 elements
/// (-128 to 127), float holds bf16 elements (-1 to 1, exactly).
template <typename T>
class ProductData {
  public:
    ProductData(const MatrixProduct& product, std::uint64_t seed, std::int64_t instance);

    /// Row-major m x k: of a convolution, the input as im2col lays it out.
    std::vector<T> a() const;
    /// Row-major k x n.
    std::vector<T> b() const;

    /// Compares row-major m x n results with sums made here in another way: a convolution directly
    /// from input and filters. int32: modulo 2^32, exactly. float: in fp64, within k * 2^-24 of the
    /// sum of the products' magnitudes, which no order of k fp32 additions exceeds. Says where and
    /// by how much it is wrong; "" where nothing is.
    std::string check(std::span<const T> c) const;

  private:
    using Sum = ProductSum<T>;
    T input(std::int64_t batch, std::int64_t channel, std::int64_t y, std::int64_t x) const;
    /// The sums of a row of results; `right` is b().
    void direct(std::int64_t row, std::span<const T> right, std::vector<Sum>& sums) const;

    const MatrixProduct product_;
    std::vector<T> left_;   ///< the input [batch, channels, height, width], or m x k
    std::vector<T> right_;  ///< the filters [filters, channels, rows, columns], or k x n
};

extern template class ProductData<std::int32_t>;
extern template class ProductData<float>;

}  // namespace lockstep::network
