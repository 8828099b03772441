// SPDX-License-Identifier: Apache-2.0
// An independent judge of command traces: every rule between every two commands, from the table.
#pragma once

#include <string>
#include <vector>

#include "models/memory/dram/device.h"

namespace lockstep::memory::dram {

/// The first rule that the trace breaks, in words; empty where it keeps to all.
std::string check_trace(const std::vector<Command>& trace, const Geometry& geometry);

/// Longest time a rank went without its share of refreshes, over REFI; 1 is on time.
double worst_refresh_gap(const std::vector<Command>& trace, const Geometry& geometry, Cycle end);

}  // namespace lockstep::memory::dram
