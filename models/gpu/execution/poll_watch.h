// SPDX-License-Identifier: Apache-2.0
// Finds out that the threads of an emulated CTA poll memory: they go round in circles without any
// effect for as long as nobody else changes what they read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/sass/state.h"

namespace lockstep::gpu {

/// Where a warp polls.
struct Poll {
    const sass::Cta* cta = nullptr;
    std::uint32_t warp = 0, pc = 0;
    unsigned lane = 0;
    std::vector<std::uint64_t> addresses;  ///< in global memory, some of those that it reads
};

/// True where no warp of these CTAs can do anything but come back to a state (registers,
/// predicates, paths) that it was in, with memory unchanged all the while; one of them is described
/// in `poll`. Instructions are tried and undone: nothing has changed afterwards. Loops that read a
/// clock, and such as take very many instructions, are not recognised. No other thread may execute
/// instructions of the launch meanwhile.
bool all_poll(std::span<sass::Cta* const> ctas, Poll& poll);

}  // namespace lockstep::gpu
