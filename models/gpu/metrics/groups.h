// SPDX-License-Identifier: Apache-2.0
// The parts of the table of metrics, one file each.
#pragma once

#include <string_view>

#include "models/gpu/metrics/table.h"

namespace lockstep::gpu {

/// Time, and the Speed Of Light.
void add_speed_of_light_metrics(MetricTable& table);
/// Instructions, issue, warps, stall reasons, pipes, arithmetic.
void add_sm_metrics(MetricTable& table);
/// L1 and shared memory, L2, DRAM.
void add_memory_metrics(MetricTable& table);
/// launch__*, and the occupancy that follows from it.
void add_launch_metrics(MetricTable& table);
/// Clusters and the SM-to-SM network; nothing of a launch without clusters.
void add_cluster_metrics(MetricTable& table);

/// As metrics name it: "long_scoreboard".
const char* state_name(WarpState state);
/// What a warp in the state of that name waits for: "data from global or local memory".
const char* state_meaning(std::string_view name);

/// The busiest part of the SMs, as a share of SM cycles in which it could have been busy.
double sm_throughput(const LaunchView& launch);
/// The busiest of L1's and shared memory's stages and their ways to and from the crossbar, of
/// `sm_cycles` summed over the SMs.
double l1_throughput(const LaunchView& launch, double sm_cycles);
/// Slice cycles in use; and what Nsight Compute's definition makes of the same.
double l2_busy(const LaunchView& launch);
double l2_throughput(const LaunchView& launch);
double dram_throughput(const LaunchView& launch);

}  // namespace lockstep::gpu
