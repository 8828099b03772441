// SPDX-License-Identifier: Apache-2.0
// The array adds the products of one result in the order of k: within a row fold from zero, then
// the folds' sums (ws, is); or all of k in one sum (os). The TPU's arithmetic on whole tiles
// (isa/tpu/semantics) does the same for many results side by side, so the netlist also vouches for
// that. The order of integers is free: they take tiles whose sums fp32 holds exactly.
#include "models/tpu/systolic/wavefront.h"

#include <algorithm>
#include <type_traits>

#include "isa/tpu/semantics/product.h"

namespace lockstep::tpu {

namespace {

/// Operands as fp32, which holds int8 and bf16 exactly.
inline const std::vector<float>& to_float(const std::vector<float>& values) {
    return values;
}
inline std::vector<float> to_float(const std::vector<std::int32_t>& values) {
    return {values.begin(), values.end()};
}

template <typename T>
std::vector<T> multiply(const Operands<T>& operands, std::int64_t fold_of_k) {
    constexpr bool is_integer = std::is_integral_v<T>;
    constexpr std::int64_t kExactLanes = 256, kRows = 512;
    const auto [m, n, k] = operands.shape;
    const std::int64_t lanes_at_once = is_integer ? kExactLanes : fold_of_k;
    const auto& a = operands.a;
    const auto& b = to_float(operands.b);
    std::vector<std::uint32_t> c(static_cast<std::size_t>(m * n));
    std::vector<float> piece;  // some rows of a, of them the lanes of a fold
    for (std::int64_t k0 = 0; k0 < k; k0 += lanes_at_once) {
        const std::int64_t lanes = std::min(lanes_at_once, k - k0);
        for (std::int64_t row = 0; row < m; row += kRows) {
            const std::int64_t rows = std::min(kRows, m - row);
            piece.clear();
            for (std::int64_t r = row; r < row + rows; ++r)
                piece.insert(piece.end(), a.begin() + r * k + k0, a.begin() + r * k + k0 + lanes);
            const TileProduct product{piece.data(),
                                      b.data() + k0 * n,
                                      static_cast<std::uint32_t>(rows),
                                      static_cast<std::uint32_t>(lanes),
                                      static_cast<std::uint32_t>(n),
                                      static_cast<std::uint32_t>(n)};
            std::uint32_t* const out = c.data() + row * n;
            if constexpr (is_integer)
                integer_product(product, false, k0 != 0, out, product.columns);
            else
                bf16_product(product, k0 != 0, out, product.columns);
        }
    }
    std::vector<T> result(c.size());
    std::transform(c.begin(), c.end(), result.begin(),
                   [](std::uint32_t bits) { return std::bit_cast<T>(bits); });
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
