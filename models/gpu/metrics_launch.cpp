// SPDX-License-Identifier: Apache-2.0
// Metrics of a launch: known before it runs.
#include <algorithm>

#include "models/gpu/gpc_map.h"
#include "models/gpu/metric_groups.h"

namespace lockstep::gpu {

LaunchShape::LaunchShape(const config::Machine& machine, const cubin::Function& kernel,
                         const LaunchRequest& request)
    : ctas(request.grid.volume()),
      threads_per_cta(request.block.volume()),
      warps_per_cta((threads_per_cta + sass::kWarpSize - 1) / sass::kWarpSize),
      registers(kernel.registers),
      static_shared_bytes(kernel.shared_bytes),
      dynamic_shared_bytes(request.dynamic_shared_bytes),
      driver_shared_bytes(
          static_cast<std::uint64_t>(machine.integer("shared_memory.reserved_per_cta"))),
      occupancy(gpu::occupancy(machine, kernel, static_cast<std::uint32_t>(threads_per_cta),
                               request.dynamic_shared_bytes)),
      is_clustered(gpu::is_clustered(kernel, request)),
      cluster_ctas(request.cluster.volume()),
      active_clusters(
          GpcMap(machine).clusters(static_cast<std::uint32_t>(cluster_ctas), occupancy.ctas())) {
    // From sm_90 on the section's size includes what the system reserves.
    if (machine.integer("arch") >= 90)
        static_shared_bytes -= std::min(static_shared_bytes, driver_shared_bytes);
}

void add_launch_metrics(MetricList& list, const Peaks& peaks, const LaunchShape& launch) {
    const Occupancy& occupancy = launch.occupancy;
    list.count("launch__grid_size", launch.ctas);
    list.count("launch__block_size", launch.threads_per_cta);
    list.count("launch__thread_count", launch.ctas * launch.threads_per_cta);
    list.count("launch__registers_per_thread", launch.registers);
    list.ratio("launch__waves_per_multiprocessor", launch.ctas, peaks.sms * occupancy.ctas());
    list.count("launch__shared_mem_per_block_static", launch.static_shared_bytes);
    list.count("launch__shared_mem_per_block_dynamic", launch.dynamic_shared_bytes);
    list.count("launch__shared_mem_per_block_driver", launch.driver_shared_bytes);
    list.count("launch__occupancy_limit_blocks", occupancy.by_ctas);
    list.count("launch__occupancy_limit_registers", occupancy.by_registers);
    list.count("launch__occupancy_limit_shared_mem", occupancy.by_shared_memory);
    list.count("launch__occupancy_limit_warps", occupancy.by_warps);
    list.percentage("sm__maximum_warps_per_active_cycle_pct",
                    occupancy.ctas() * launch.warps_per_cta, peaks.max_warps);
}

}  // namespace lockstep::gpu
