// SPDX-License-Identifier: Apache-2.0
// How large grids and CTAs may be by dimension (x, y, z): the same for every GPU of compute
// capability 7.0 to 9.0 (CUDA C++ Programming Guide, table "Technical Specifications per Compute
// Capability").
#pragma once

namespace lockstep::sass {

inline constexpr int kMaxGrid[3] = {2147483647, 65535, 65535};  ///< CTAs
inline constexpr int kMaxBlock[3] = {1024, 1024, 64};           ///< threads

}  // namespace lockstep::sass
