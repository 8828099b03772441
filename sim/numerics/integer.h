// SPDX-License-Identifier: Apache-2.0
// Integer divisions that round up.
#pragma once

#include <concepts>
#include <type_traits>

namespace lockstep::numerics {

/// How many parts of at most `part` a whole has; neither is negative, and part is not 0.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> divide_up(A whole, B part) {
    using T = std::common_type_t<A, B>;
    const T a = static_cast<T>(whole), b = static_cast<T>(part);
    return static_cast<T>(a / b + (a % b != 0 ? 1 : 0));
}

/// The least multiple of `step` that is not below `value`.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> round_up(A value, B step) {
    using T = std::common_type_t<A, B>;
    return static_cast<T>(divide_up(value, step) * static_cast<T>(step));
}

}  // namespace lockstep::numerics
