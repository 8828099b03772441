// SPDX-License-Identifier: Apache-2.0
// How large grids and CTAs may be by dimension (x, y, z): the same for every GPU of compute
// capability 7.0 to 9.0 (CUDA C++ Programming Guide, table "Technical Specifications per Compute
// Capability").
#pragma once

#include <utility>

namespace lockstep::sass {

inline constexpr int kMaxGrid[3] = {2147483647, 65535, 65535};  ///< CTAs
inline constexpr int kMaxBlock[3] = {1024, 1024, 64};           ///< threads

/// Whether sizes by dimension, as a Dim3 has them, keep to the limits.
template <typename Size>
constexpr bool fits(const Size& size, const int (&maximum)[3]) {
    return std::cmp_less_equal(size.x, maximum[0]) && std::cmp_less_equal(size.y, maximum[1]) &&
           std::cmp_less_equal(size.z, maximum[2]);
}

}  // namespace lockstep::sass
