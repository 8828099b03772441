// SPDX-License-Identifier: Apache-2.0
// All that the next instructions of a warp depend on, apart from memory and clocks, as one number.
#pragma once

#include <cstdint>

#include "isa/sass/state.h"

namespace lockstep::gpu {

/// A hash of the warp's registers, predicates and paths; never 0.
std::uint64_t state_of(const sass::Warp& warp);

}  // namespace lockstep::gpu
