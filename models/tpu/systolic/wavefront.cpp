// SPDX-License-Identifier: Apache-2.0
// The array adds the products of one result in the order of k: within a row fold from zero, then
// the folds' sums (ws, is); or all of k in one sum (os). The same is done here for whole rows of C
// at once, which changes the order of nothing that is added to each other.
#include "models/tpu/systolic/wavefront.h"

#include <algorithm>

namespace lockstep::tpu {

namespace {

/// sums[j] += a * b[j]
template <typename T>
void add_row(T* __restrict sums, T a, const T* __restrict b, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) sums[j] = multiply_add(sums[j], a, b[j]);
}

template <typename T>
std::vector<T> multiply(const Operands<T>& operands, std::int64_t fold_of_k) {
    const auto [m, n, k] = operands.shape;
    // A block of columns whose sums, and of b the rows of a fold, stay in the caches.
    constexpr std::int64_t kBlock = 512;
    std::vector<T> c(static_cast<std::size_t>(m * n));
    std::vector<T> sums(kBlock);
    for (std::int64_t n0 = 0; n0 < n; n0 += kBlock) {
        const std::int64_t width = std::min(kBlock, n - n0);
        for (std::int64_t k0 = 0; k0 < k; k0 += fold_of_k) {
            const std::int64_t k1 = std::min(k, k0 + fold_of_k);
            for (std::int64_t i = 0; i < m; ++i) {
                std::fill(sums.begin(), sums.end(), T{});
                for (std::int64_t kk = k0; kk < k1; ++kk)
                    add_row(sums.data(), operands.a[i * k + kk], &operands.b[kk * n + n0], width);
                T* const row = &c[i * n + n0];
                for (std::int64_t j = 0; j < width; ++j)
                    row[j] = k0 == 0 ? sums[j] : add(row[j], sums[j]);
            }
        }
    }
    for (T& value : c) value = canonical(value);
    return c;
}

}  // namespace

template <typename T>
ArrayResult<T> run_wavefront(const ArrayShape& array, Overlap overlap,
                             const Operands<T>& operands) {
    const Folding folding = fold(array, operands.shape);
    const bool is_os = array.dataflow == Dataflow::kOutputStationary;
    return {multiply(operands, is_os ? operands.shape.k : array.rows),
            total_cycles(array, overlap, folding.stream, folding.folds())};
}

template ArrayResult<std::int32_t> run_wavefront(const ArrayShape&, Overlap,
                                                 const Operands<std::int32_t>&);
template ArrayResult<float> run_wavefront(const ArrayShape&, Overlap, const Operands<float>&);

}  // namespace lockstep::tpu
