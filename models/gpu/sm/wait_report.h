// SPDX-License-Identifier: Apache-2.0
// What the warps of an SM wait for: in words, and for those who find out that nothing goes on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

/// For the report of a deadlock; of all its warps, as far as a message holds them.
std::string explain_waits(const Warps& warps);

/// Where a warp stands at a time.
struct WarpSample {
    std::uint64_t state = 0;       ///< a number for its registers, predicates, paths; 0: no warp
    std::uint32_t path_turns = 0;  ///< that its paths have taken
    std::uint32_t paths = 0;       ///< that take turns; 0: one alone goes on
};
/// Of each warp slot.
void append_warp_samples(const Warps& warps, std::vector<WarpSample>& samples);
/// Each of its warps waits at a barrier, or asks mbarriers for ever if nobody changes them.
bool never_goes_on(const Warps& warps);
/// The same of those that a try_wait holds, whose state stands still until it gives up.
bool waits_in_vain(const Warps& warps);

}  // namespace lockstep::gpu
