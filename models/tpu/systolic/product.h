// SPDX-License-Identifier: Apache-2.0
// A matrix product as the array sees it: which element is held where, which enters where at which
// step, and where a result belongs. ws, os and is differ in nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "models/tpu/systolic/arithmetic.h"
#include "models/tpu/systolic/schedule.h"

namespace lockstep::tpu {

/// Row-major operands: a is m x k, b is k x n. T: std::int32_t (int8 elements) or float (bf16).
template <typename T>
struct Operands {
    GemmShape shape;
    std::vector<T> a, b;
};

/// A matrix or its transpose, padded with zeros beyond its edges.
template <typename T>
struct View {
    const T* data = nullptr;
    std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

    T at(std::int64_t row, std::int64_t column) const {
        return row < rows && column < columns ? data[row * row_stride + column * column_stride]
                                              : T{};
    }
};

/// A piece of the work: the tile at row fold `row`, column fold `column`.
struct FoldIndex {
    std::int64_t row = 0, column = 0;
};

template <typename T>
class Product {
  public:
    /// `operands` must outlive it.
    Product(const ArrayShape& array, const Operands<T>& operands);

    const Folding& folding() const { return folding_; }
    bool is_output_stationary() const { return is_os_; }

    /// Folds are run row fold by row fold within a column fold: sums over k are completed first.
    FoldIndex fold_at(std::int64_t number) const {
        return {number % folding_.row_folds, number / folding_.row_folds};
    }

    /// ws, is: what PE (row, column) holds in this fold.
    T held(FoldIndex fold, std::int64_t row, std::int64_t column) const {
        return top_.at(fold.row * array_.rows + row, fold.column * array_.columns + column);
    }
    /// What enters `row` from the west as vector `step`.
    T west(FoldIndex fold, std::int64_t row, std::int64_t step) const {
        return west_.at(fold.row * array_.rows + row, step);
    }
    /// os: what enters `column` from the north at `step`.
    T north(FoldIndex fold, std::int64_t column, std::int64_t step) const {
        return top_.at(step, fold.column * array_.columns + column);
    }

    /// ws, is: vector `step` has left `column` as `sum`: the accumulators below the array add it to
    /// the sums of the folds before.
    void accumulate(FoldIndex fold, std::int64_t column, std::int64_t step, T sum);
    /// os: the result of PE (row, column) has left.
    void store(FoldIndex fold, std::int64_t row, std::int64_t column, T sum);

    /// The result, row-major m x n.
    std::vector<T> take();

  private:
    const ArrayShape array_;
    const Folding folding_;
    const bool is_os_;
    const bool is_transposed_;  ///< is: computed as ws of the transposed product
    GemmShape shape_;
    View<T> west_;  ///< spatial row x step
    View<T> top_;   ///< ws, is: spatial row x column; os: step x column
    std::vector<T> result_;
};

extern template class Product<std::int32_t>;
extern template class Product<float>;

/// What a run of the array yields, at each fidelity.
template <typename T>
struct ArrayResult {
    std::vector<T> c;         ///< row-major m x n
    std::int64_t cycles = 0;  ///< from the first step to the last result, both included
};

}  // namespace lockstep::tpu
