// SPDX-License-Identifier: Apache-2.0
// From counters to metrics under Nsight Compute's names. A metric bears one of those names only
// where its definition is the same; all others begin with lockstep__. metrics.md lists them.
#pragma once

#include <cstdint>
#include <string>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "models/gpu/cluster/cluster_counters.h"
#include "models/gpu/device/occupancy.h"
#include "models/gpu/metrics/counters.h"
#include "sim/config/machine.h"
#include "sim/stats/value.h"

namespace lockstep::gpu {

/// What a machine can do at most: the 100% of the percentages.
struct Peaks {
    explicit Peaks(const config::Machine& machine);

    std::uint64_t sms, sub_cores, max_warps;
    double fma_interval;        ///< sub-core cycles that an FP32 instruction takes
    std::uint64_t fp64_pipes;   ///< of an SM
    double lsu_interval;        ///< SM cycles that a memory instruction takes of all sub-cores' way
    bool has_warpgroups;        ///< Tensor Cores execute wgmma
    double crossbar_bytes;      ///< that an SM receives in a cycle
    double crossbar_out_bytes;  ///< that an SM sends in a cycle
    std::uint64_t l2_slices;    ///< at the SMs' clock
    /// Sectors that L2 looks up in a cycle; 0: not known, its L2 has two parts
    double l2_sectors;
    double dram_bytes_per_second;  ///< infinite where DRAM is ideal
    double dram_hertz;
};

/// What does not change while a kernel runs.
struct LaunchShape {
    LaunchShape(const config::Machine& machine, const cubin::Function& kernel,
                const LaunchRequest& request);

    std::uint64_t ctas, threads_per_cta, warps_per_cta;
    std::uint64_t registers;  ///< of a thread
    std::uint64_t static_shared_bytes, dynamic_shared_bytes, driver_shared_bytes;
    Occupancy occupancy;
    bool is_clustered;
    std::uint64_t cluster_ctas, active_clusters;  ///< of one cluster; that fit on the chip
};

/// One launch, all of the chip's units summed.
struct Measurement {
    std::uint64_t cycles = 0;  ///< of the SM clock, as profilers count a kernel's
    double seconds = 0;
    SmCounters sm;
    MemoryCounters memory;
    PartitionCounters partition;
    GccCounters gcc;
    ClusterCounters cluster;
};

stats::Metrics derive_metrics(const Peaks& peaks, const LaunchShape& launch,
                              const Measurement& measured);

/// The reference page of the metrics: metrics.md.
std::string metrics_page();

}  // namespace lockstep::gpu
