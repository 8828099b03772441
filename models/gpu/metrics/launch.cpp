// SPDX-License-Identifier: Apache-2.0
// Metrics of a launch: known before it runs.
#include <algorithm>

#include "models/gpu/chip/gpc_map.h"
#include "models/gpu/device/launch_check.h"
#include "models/gpu/metrics/groups.h"

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

namespace {

template <auto kMember>
constexpr auto shape = [](const LaunchView& l) { return l.shape.*kMember; };
template <auto kMember>
constexpr auto limit = [](const LaunchView& l) { return l.shape.occupancy.*kMember; };

}  // namespace

void add_launch_metrics(MetricTable& table) {
    using Shape = LaunchShape;
    table.count("launch__grid_size", "CTA", "CTAs of the grid", shape<&Shape::ctas>);
    table.count("launch__block_size", "thread", "threads of a CTA", shape<&Shape::threads_per_cta>);
    table.count("launch__thread_count", "thread", "threads of the grid",
                [](const LaunchView& l) { return l.shape.ctas * l.shape.threads_per_cta; });
    table.count("launch__registers_per_thread", "register", "as the kernel declares them",
                shape<&Shape::registers>);
    table.ratio("launch__waves_per_multiprocessor", "1",
                "CTAs over those that all SMs hold at once", shape<&Shape::ctas>,
                [](const LaunchView& l) { return l.peaks.sms * l.shape.occupancy.ctas(); });
    table.count("launch__shared_mem_per_block_static", "B", "shared memory that a CTA declares",
                shape<&Shape::static_shared_bytes>);
    table.count("launch__shared_mem_per_block_dynamic", "B",
                "shared memory that the launch adds for a CTA",
                shape<&Shape::dynamic_shared_bytes>);
    table.count(
        "launch__shared_mem_per_block_driver", "B",
        "shared memory that the system reserves in a CTA (`shared_memory.reserved_per_cta`)",
        shape<&Shape::driver_shared_bytes>);
    table.count("launch__occupancy_limit_blocks", "CTA", "CTAs of an SM by `sm.max_ctas`",
                limit<&Occupancy::by_ctas>);
    table.count("launch__occupancy_limit_registers", "CTA", "CTAs of an SM by its registers",
                limit<&Occupancy::by_registers>);
    table.count("launch__occupancy_limit_shared_mem", "CTA", "CTAs of an SM by its shared memory",
                limit<&Occupancy::by_shared_memory>);
    table.count("launch__occupancy_limit_warps", "CTA", "CTAs of an SM by `sm.max_warps`",
                limit<&Occupancy::by_warps>);
    table.percentage(
        "sm__maximum_warps_per_active_cycle_pct",
        "theoretical occupancy: warps of the CTAs that fit, of `sm.max_warps`",
        [](const LaunchView& l) { return l.shape.occupancy.ctas() * l.shape.warps_per_cta; },
        [](const LaunchView& l) { return l.peaks.max_warps; });
}

}  // namespace lockstep::gpu
