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

/// A number for the state of each warp slot, 0 where there is no warp.
void append_warp_states(const Warps& warps, std::vector<std::uint64_t>& states);
/// Each of its warps waits at a barrier, or asks mbarriers for ever if nobody changes them.
bool never_goes_on(const Warps& warps);
/// The same of those that a try_wait holds, whose state stands still until it gives up.
bool waits_in_vain(const Warps& warps);

}  // namespace lockstep::gpu
