// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Shared memory that an SM sets aside for the CTAs it holds: the smallest of the machine's
/// carve-outs that suffices.
/// Throws InputError where the list of carve-outs is none.
std::uint64_t carve_out(const config::Machine& machine, std::uint64_t needed);

}  // namespace lockstep::gpu
