// SPDX-License-Identifier: Apache-2.0
// The values of `sub_core.scheduler`.
#pragma once

#include <cstdint>

#include "sim/config/schema.h"

namespace lockstep::gpu {

enum class WarpPolicy : std::uint8_t {
    kGreedyThenYoungest,
    kGreedyThenOldest,
    kRoundRobin,
    kTwoLevel,
};
inline constexpr config::Choice kWarpPolicies[] = {
    {"greedy_then_youngest", "the warp that issued last, else the youngest"},
    {"greedy_then_oldest", "the warp that issued last, else the oldest"},
    {"round_robin", "the next after the one that issued last"},
    {"two_level", "in turn within a group of sub_core.scheduler_group, until none of it can issue"},
};

}  // namespace lockstep::gpu
