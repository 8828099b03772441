// SPDX-License-Identifier: Apache-2.0
// Distributed shared memory and the barrier of a cluster (hopper/micro_cluster.cu).
#include <algorithm>

#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_cluster";
constexpr int kArch = 90;
constexpr unsigned kBlocks = 2;         ///< of the cluster
constexpr std::size_t kClocks = 64;     ///< of a block
constexpr double kLoadBytes = 8 * 128;  ///< a warp's, in one iteration

void latency(Run& run) {
    const Clocks cycles = run.zeros<std::uint64_t>(kClocks);
    run.launch({kFile, "dsmem_chain"}, {kBlocks}, {static_cast<unsigned>(run["lanes"])}, 0,
               Arguments(cycles, run["rank"]));
    run.measure("latency", chain_latency(cycles), "cycles");
    run.check_values<std::uint64_t>("address", cycles.part(2, 1),
                                    [](int) { return std::uint64_t{0}; });
}

void bandwidth(Run& run, const char* kernel) {
    const int warps = run["warps"], both = run["both"];
    const Clocks cycles = run.zeros<std::uint64_t>(kBlocks * kClocks);
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({kFile, kernel}, {kBlocks}, {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, both, iterations));
    });
    run.measure("bandwidth", kLoadBytes * warps / time, "bytes/cycle/SM");
}

void barrier(Run& run) {
    const Clocks cycles = run.zeros<std::uint64_t>(kBlocks * kClocks);
    run.launch({kFile, "cluster_barrier"}, {kBlocks}, {32u * static_cast<unsigned>(run["warps"])},
               0, Arguments(cycles));
    run.measure("latency", chain_latency(cycles), "cycles");
}

}  // namespace

std::vector<Workload> cluster_workloads() {
    const ParameterInfo both{"both", 0, 0, 1, "1: each block reads or writes the other's"};
    return {
        {"micro_dsmem_latency",
         "latency of loads from shared memory of a cluster, by shared::cluster addresses",
         {{"rank", 1, 0, 1, "block whose memory it is; 0: the own one"},
          {"lanes", 1, 1, 32, "threads of the one warp that take part"}},
         latency,
         kArch},
        {"micro_dsmem_bandwidth",
         "bandwidth of loads from another block's shared memory",
         {warps_parameter(32), both},
         [](Run& run) { bandwidth(run, "dsmem_load"); },
         kArch},
        {"micro_dsmem_write_bandwidth",
         "bandwidth of stores to another block's shared memory",
         {warps_parameter(32), both},
         [](Run& run) { bandwidth(run, "dsmem_store"); },
         kArch},
        {"micro_cluster_barrier",
         "barrier.cluster of two blocks, without fences",
         {warps_parameter(1)},
         barrier,
         kArch},
    };
}

}  // namespace lockstep::cuda::micro
