// SPDX-License-Identifier: Apache-2.0
// What the host's side of the microbenchmarks shares. The kernels' side is micro.cuh; step counts
// here are those of its macros.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda::micro {

/// What kernels note their clocks in.
using Clocks = Array<std::uint64_t>;

/// TIME_CHAIN: steps between its clock reads, and all steps it executes.
inline constexpr int kShortSteps = 16, kLongSteps = 80, kChainSteps = 2 * (4 + 16 + 80 + 4);

/// Cycles a step of a chain that TIME_CHAIN timed.
double chain_latency(const Clocks& cycles);

/// From the first warp's begin to the last one's end: what TIME_LOOP noted for `warps` warps.
double loop_time(const Clocks& cycles, int warps);

/// Runs a TIME_LOOP kernel twice, with kFewIterations and kManyIterations, and returns the cycles
/// that one iteration takes. `launch` launches it with that many iterations.
inline constexpr int kFewIterations = 4, kManyIterations = 12;
inline constexpr int kAllIterations = 2 * (kFewIterations + kManyIterations);
double cycles_an_iteration(Run& run, const Clocks& cycles, int warps,
                           const std::function<void(int iterations)>& launch);

/// Throws InputError where the machine is older than what the benchmark measures.
void need_arch(const Run& run, int arch, std::string_view what);

ParameterInfo warps_parameter(int default_value);

std::vector<Workload> bandwidth_workloads();
std::vector<Workload> cluster_workloads();
std::vector<Workload> fixed_latency_workloads();
std::vector<Workload> front_end_workloads();
std::vector<Workload> latency_workloads();
std::vector<Workload> matrix_workloads();
std::vector<Workload> synchronisation_workloads();
std::vector<Workload> tma_workloads();
std::vector<Workload> variable_latency_workloads();
std::vector<Workload> warpgroup_workloads();

}  // namespace lockstep::cuda::micro
