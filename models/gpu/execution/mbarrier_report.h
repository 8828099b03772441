// SPDX-License-Identifier: Apache-2.0
// What a thread waits for at an mbarrier, in words.
#pragma once

#include <cstdint>
#include <string>

#include "isa/sass/state.h"

namespace lockstep::gpu {

/// "phase 0 of the mbarrier at shared address 0x400 (1 of 2 arrivals and 512 bytes are missing)":
/// the phase is the one that is under way, or an earlier one that is over.
/// @param offset of the mbarrier in the CTA's shared memory
std::string describe_mbarrier(const sass::Cta& cta, std::uint32_t offset);

/// The same of the mbarrier that the phase check at the warp's pc asks, for its first lane; empty
/// where the instruction is no phase check. Addresses are computed into warp.access.
std::string describe_phase_check(sass::Warp& warp, std::uint32_t pc);

}  // namespace lockstep::gpu
