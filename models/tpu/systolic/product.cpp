// SPDX-License-Identifier: Apache-2.0
// is computes C = A B as the weight-stationary product of the transposes: A^T is held, the columns
// of B stream, and the columns of the array are rows of C.
#include "models/tpu/systolic/product.h"

#include "sim/error/error.h"

namespace lockstep::tpu {

template <typename T>
Product<T>::Product(const ArrayShape& array, const Operands<T>& operands)
    : array_(array),
      folding_(fold(array, operands.shape)),
      is_os_(array.dataflow == Dataflow::kOutputStationary),
      is_transposed_(array.dataflow == Dataflow::kInputStationary),
      shape_(operands.shape) {
    const auto [m, n, k] = shape_;
    LOCKSTEP_CHECK(m > 0 && n > 0 && k > 0, "product of {} x {} x {}", m, n, k);
    LOCKSTEP_CHECK(static_cast<std::int64_t>(operands.a.size()) == m * k &&
                       static_cast<std::int64_t>(operands.b.size()) == k * n,
                   "operands of a {} x {} x {} product have {} and {} elements", m, n, k,
                   operands.a.size(), operands.b.size());
    const T* const a = operands.a.data();
    const T* const b = operands.b.data();
    switch (array.dataflow) {
        case Dataflow::kWeightStationary:
            west_ = {a, k, m, 1, k};
            top_ = {b, k, n, n, 1};
            break;
        case Dataflow::kOutputStationary:
            west_ = {a, m, k, k, 1};
            top_ = {b, k, n, n, 1};
            break;
        case Dataflow::kInputStationary:
            west_ = {b, k, n, n, 1};
            top_ = {a, k, m, 1, k};
            break;
    }
    result_.resize(static_cast<std::size_t>(m * n));
}

template <typename T>
void Product<T>::accumulate(FoldIndex fold, std::int64_t column, std::int64_t step, T sum) {
    const std::int64_t spatial = fold.column * array_.columns + column;
    if (spatial >= folding_.columns) return;
    T& place = result_[static_cast<std::size_t>(is_transposed_ ? spatial * shape_.n + step
                                                               : step * shape_.n + spatial)];
    place = fold.row == 0 ? sum : add(place, sum);
}

template <typename T>
void Product<T>::store(FoldIndex fold, std::int64_t row, std::int64_t column, T sum) {
    const std::int64_t m = fold.row * array_.rows + row;
    const std::int64_t n = fold.column * array_.columns + column;
    if (m < shape_.m && n < shape_.n) result_[static_cast<std::size_t>(m * shape_.n + n)] = sum;
}

template <typename T>
std::vector<T> Product<T>::take() {
    for (T& value : result_) value = canonical(value);
    return std::move(result_);
}

template class Product<std::int32_t>;
template class Product<float>;

}  // namespace lockstep::tpu
