// SPDX-License-Identifier: Apache-2.0
// Sums rounded to odd: what is rounded again, to a format with at least two digits less, comes out
// as if it had been rounded once (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums: proved algorithms using rounding to odd", IEEE Trans. Computers 57, 2008).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace lockstep::sass {

/// a + b rounded to odd: an inexact sum gets the neighbour whose last bit is set.
template <typename T>
inline T add_to_odd(T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const T sum = a + b;
    const T part = sum - a;
    const T error = (a - (sum - part)) + (b - part);
    const Bits bits = std::bit_cast<Bits>(sum);
    const bool inexact = error < 0 || error > 0;
    const bool beyond = (error > 0) == (sum > 0);  // the exact sum is larger in magnitude
    const Bits odd = beyond ? bits + 1 : bits - 1;
    return std::bit_cast<T>(inexact && (bits & 1) == 0 ? odd : bits);
}

}  // namespace lockstep::sass
