// SPDX-License-Identifier: Apache-2.0
// The array adds the products of one result in the order of k: within a row fold from zero, then
// the folds' sums (ws, is); or all of k in one sum (os). The TPU's arithmetic on whole tiles
// (isa/tpu/semantics) does the same for many results side by side, so the netlist also vouches for
// that. The order of integers is free.
#include "models/tpu/systolic/wavefront.h"

#include <algorithm>
#include <bit>

#include "isa/product/product.h"

namespace lockstep::tpu {

namespace {

constexpr std::int64_t kRows = 512;  ///< at a time: they stay in the host's cache

/// Elements of int8 fit the 16 bits in which integers are multiplied.
std::vector<std::int32_t> multiply(const Operands<std::int32_t>& operands, std::int64_t) {
    const auto [m, n, k] = operands.shape;
    const auto lanes = static_cast<std::uint32_t>(k), columns = static_cast<std::uint32_t>(n);
    const std::vector<std::int16_t> b(operands.b.begin(), operands.b.end());
    const product::IntegerWeights weights(b.data(), lanes, columns, columns);
    const std::int64_t pitch = product::integer_pitch(lanes);
    std::vector<std::int16_t> piece(static_cast<std::size_t>(std::min(kRows, m) * pitch));
    std::vector<std::uint32_t> c(static_cast<std::size_t>(m * n));
    for (std::int64_t row = 0; row < m; row += kRows) {
        const std::int64_t rows = std::min(kRows, m - row);
        for (std::int64_t r = 0; r < rows; ++r)
            std::copy_n(operands.a.begin() + (row + r) * k, k, piece.begin() + r * pitch);
        product::integer_product(piece.data(), static_cast<std::uint32_t>(rows), lanes, weights,
                                 columns, false, c.data() + row * n, columns);
    }
    return {c.begin(), c.end()};
}

std::vector<float> multiply(const Operands<float>& operands, std::int64_t fold_of_k) {
    const auto [m, n, k] = operands.shape;
    std::vector<std::uint32_t> c(static_cast<std::size_t>(m * n));
    std::vector<float> piece;  // some rows of a, of them the lanes of a fold
    for (std::int64_t k0 = 0; k0 < k; k0 += fold_of_k) {
        const std::int64_t lanes = std::min(fold_of_k, k - k0);
        for (std::int64_t row = 0; row < m; row += kRows) {
            const std::int64_t rows = std::min(kRows, m - row);
            piece.clear();
            for (std::int64_t r = row; r < row + rows; ++r) {
                const auto from = operands.a.begin() + r * k + k0;
                piece.insert(piece.end(), from, from + lanes);
            }
            product::bf16_product(
                {piece.data(), operands.b.data() + k0 * n, static_cast<std::uint32_t>(rows),
                 static_cast<std::uint32_t>(lanes), static_cast<std::uint32_t>(n),
                 static_cast<std::uint32_t>(n)},
                k0 != 0, c.data() + row * n, static_cast<std::uint32_t>(n));
        }
    }
    std::vector<float> result(c.size());
    std::transform(c.begin(), c.end(), result.begin(),
                   [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
    return result;
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
