// SPDX-License-Identifier: Apache-2.0
// What a compilation looks like to a person: the schedule, and why an array was not used fully.
#pragma once

#include "workloads/network/tpu/compile.h"

namespace lockstep::network {

/// A line a layer (how its products are cut), then the program's listing without data.
std::string schedule_text(const TpuCompiled& compiled);

/// What was measured of a step; array cycles are summed over the matrix units.
struct LayerTime {
    std::uint64_t cycles = 0, macs = 0;
    /// Streams in its cycles; of them those of other steps, and its own in the cycles of others.
    std::uint64_t active = 0, active_others = 0, active_elsewhere = 0;
    std::uint64_t weight_stall = 0, weight_shift = 0, raw_stall = 0, input_stall = 0;
    std::uint64_t issue_stall = 0, idle_units = 0, bank_stall = 0, window_stall = 0;
    std::uint64_t vector_busy = 0, host_busy = 0, host_bytes = 0, memory_bytes = 0;
};

/// Why the utilisation of a step is what it is, in a few words: the largest losses first, in
/// percent of the array's cycles. `times` as the program's steps.
std::string explain_layer(const TpuLayer& layer, const LayerTime& time,
                          const tpu::CoreLimits& limits);
/// `shown`: which of the steps (none given: all).
std::string explain_utilisation(const TpuCompiled& compiled, const std::vector<LayerTime>& times,
                                const tpu::CoreLimits& limits, const std::vector<bool>& shown = {});

}  // namespace lockstep::network
