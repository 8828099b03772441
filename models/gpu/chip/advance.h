// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "models/gpu/chip/chip.h"

namespace lockstep::gpu {

/// Takes all chips of a Simulation along: until any of them has ended a kernel, until windows that
/// begin before `limit` are done, or for a bounded number of windows. Returns how far they have
/// come. Throws LocatedFault.
engine::Time advance(std::span<Chip* const> chips, engine::Time limit);

}  // namespace lockstep::gpu
