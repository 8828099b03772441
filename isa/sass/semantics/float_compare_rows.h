// SPDX-License-Identifier: Apache-2.0
// The sixteen floating-point comparisons on whole rows. A code is a set of the four outcomes of
// comparing two numbers: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered (a NaN).
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

constexpr unsigned kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
constexpr unsigned kComparisons = 16;

template <unsigned code, typename T>
constexpr bool compare(T a, T b) {
    if constexpr (code == 0)
        return false;
    else if constexpr (code == 15)
        return true;
    else if constexpr (code > 7)
        return !compare<15 - code>(a, b);
    else if constexpr (code == kLess)
        return a < b;
    else if constexpr (code == kEqual)
        return a == b;
    else if constexpr (code == (kLess | kEqual))
        return a <= b;
    else if constexpr (code == kGreater)
        return a > b;
    else if constexpr (code == (kLess | kGreater))
        return a < b || a > b;
    else if constexpr (code == (kGreater | kEqual))
        return a >= b;
    else
        return a == a && b == b;
}

#if defined(__AVX512F__)
/// The host's predicate for each code (all quiet).
constexpr std::array<int, kComparisons> kHostPredicate = {
    _CMP_FALSE_OQ, _CMP_LT_OQ,  _CMP_EQ_OQ,   _CMP_LE_OQ,  _CMP_GT_OQ, _CMP_NEQ_OQ,
    _CMP_GE_OQ,    _CMP_ORD_Q,  _CMP_UNORD_Q, _CMP_NGE_UQ, _CMP_EQ_UQ, _CMP_NGT_UQ,
    _CMP_NLE_UQ,   _CMP_NEQ_UQ, _CMP_NLT_UQ,  _CMP_TRUE_UQ};
#endif

/// Bit l: compare<code> of lane l.
template <unsigned code>
inline std::uint32_t compare_rows(const Row& a, const Row& b) {
#if defined(__AVX512F__)
    const auto half = [&](unsigned l) -> std::uint32_t {
        return _mm512_cmp_ps_mask(_mm512_load_ps(reinterpret_cast<const float*>(a.lane) + l),
                                  _mm512_load_ps(reinterpret_cast<const float*>(b.lane) + l),
                                  kHostPredicate[code]);
    };
    return half(0) | half(16) << 16;
#else
    return lane_mask(
        [&](unsigned l) { return compare<code>(as_float(a.lane[l]), as_float(b.lane[l])); });
#endif
}

/// 0 AND, 1 OR, 2 XOR of a comparison with the combining predicate.
inline std::uint32_t combine(unsigned operation, std::uint32_t a, std::uint32_t b) {
    return operation == 0 ? a & b : (operation == 1 ? a | b : a ^ b);
}

}  // namespace lockstep::sass
