// SPDX-License-Identifier: Apache-2.0
// The parts of derive_metrics(), one file each.
#pragma once

#include "models/gpu/metric_list.h"
#include "models/gpu/metrics.h"

namespace lockstep::gpu {

/// Instructions, issue, warps, stall reasons, pipes, arithmetic.
void add_sm_metrics(MetricList& list, const Peaks& peaks, const Measurement& measured);
/// L1 and shared memory, L2, DRAM.
void add_memory_metrics(MetricList& list, const Peaks& peaks, const Measurement& measured);
/// launch__*, and the occupancy that follows from it.
void add_launch_metrics(MetricList& list, const Peaks& peaks, const LaunchShape& launch);

/// As metrics name it: "long_scoreboard".
const char* state_name(WarpState state);

/// Clusters and the SM-to-SM network; nothing of a launch without clusters.
void add_cluster_metrics(MetricList& list, const LaunchShape& launch, const Measurement& measured);

/// The busiest part of the SMs, as a share of SM cycles in which it could have been busy.
double sm_throughput(const Peaks& peaks, const Measurement& measured);
/// The busiest of L1's and shared memory's stages and their way from the crossbar, of `sm_cycles`
/// summed over the SMs.
double l1_throughput(const Peaks& peaks, const Measurement& measured, double sm_cycles);
double l2_throughput(const Peaks& peaks, const Measurement& measured);
double dram_throughput(const Peaks& peaks, const Measurement& measured);

}  // namespace lockstep::gpu
