// SPDX-License-Identifier: Apache-2.0
// NANOSLEEP: how long a warp sleeps.
#pragma once

#include "models/gpu/sm/sm_parameters.h"
#include "models/gpu/sm/warp_context.h"

namespace lockstep::gpu {

/// Cycles of the SM that the warp's NANOSLEEP at `pc` takes, for the lanes of its mask.
engine::Cycle sleep_cycles(const SmParameters& parameters, const WarpContext& context,
                           std::uint32_t pc);

}  // namespace lockstep::gpu
