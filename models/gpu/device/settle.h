// SPDX-License-Identifier: Apache-2.0
// Parameters of a GPU that say the same: those that the model acts by, and those that people know.
#pragma once

#include "sim/config/settings.h"

namespace lockstep::gpu {

/// - dram.bandwidth is that of dram.bus_width at clock.memory: setting it sets the clock;
/// - sm.fp32_lanes are what a warp's 32 lanes of pipe.fma.interval in each sub-core come to:
/// setting
///   them sets the interval;
/// - dram.latency is a time, in cycles of the SMs' clock: setting clock.sm sets it;
/// - the crossbar's latencies are parts of l2.hit_latency, which grows with them;
/// - shared_memory.size is the largest of shared_memory.carve_outs, and a CTA may have as much
/// less. Where both sides were set they must agree (InputError).
void settle(config::Settings& settings);

}  // namespace lockstep::gpu
