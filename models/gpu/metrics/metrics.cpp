// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/metrics/metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "models/gpu/memory/message.h"
#include "models/gpu/metrics/groups.h"
#include "sim/error/error.h"

namespace lockstep::gpu {
namespace {

/// No unit does more than it can: whoever reads the share would trust it.
void check_share(const char* unit, double share) {
    constexpr double kRounding = 1e-6;
    LOCKSTEP_CHECK(share <= 100 + kRounding, "{}: {}% of its peak", unit, share);
}

}  // namespace

Peaks::Peaks(const config::Machine& machine)
    : sms(static_cast<std::uint64_t>(machine.integer("sm.count"))),
      sub_cores(static_cast<std::uint64_t>(machine.integer("sm.sub_cores"))),
      max_warps(static_cast<std::uint64_t>(machine.integer("sm.max_warps"))),
      fma_interval(static_cast<double>(machine.integer("pipe.fma.interval"))),
      fp64_pipes(machine.boolean("pipe.fp64.shared") ? 1 : sub_cores),
      lsu_interval(static_cast<double>(machine.integer("sub_core.arbiter_interval"))),
      has_warpgroups(machine.number("tensor_core.warpgroup.macs.fp16") != 0),
      crossbar_bytes(machine.number("crossbar.reply_bandwidth")),
      crossbar_out_bytes(machine.number("crossbar.request_bandwidth")),
      l2_slices(static_cast<std::uint64_t>(machine.integer("l2.slices"))),
      l2_sectors(machine.integer("l2.partitions") != 1
                     ? 0
                     : static_cast<double>(l2_slices) *
                           std::ceil(machine.number("l2.slice_bandwidth") / kSectorBytes)),
      dram_hertz(machine.number("clock.memory") * 1e6) {
    constexpr double kEdges = 2, kBits = 8;
    dram_bytes_per_second =
        machine.boolean("ideal.dram")
            ? std::numeric_limits<double>::infinity()
            : static_cast<double>(machine.integer("dram.bus_width")) / kBits * kEdges * dram_hertz;
}

const std::vector<MetricRow>& metric_rows() {
    static const MetricTable kTable = [] {
        MetricTable table;
        add_speed_of_light_metrics(table);
        add_sm_metrics(table);
        add_memory_metrics(table);
        add_launch_metrics(table);
        add_cluster_metrics(table);
        return table;
    }();
    return kTable.rows();
}

stats::Metrics derive_metrics(const Peaks& peaks, const LaunchShape& launch,
                              const Measurement& measured) {
    const LaunchView view{peaks, launch, measured};
    check_share("L1", l1_throughput(view, view.sm_cycles()));
    check_share("L2", l2_busy(view));
    check_share("DRAM", dram_throughput(view));
    stats::Metrics metrics;
    metrics.reserve(metric_rows().size());
    for (const MetricRow& row : metric_rows())
        if (!row.is_present || row.is_present(view))
            metrics.emplace_back(row.name, row.value(view));
    return metrics;
}

std::string metrics_page() {
    std::string page =
        "# Metrics of a GPU\n"
        "Made from the tables in models/gpu/metrics; do not edit. `--stats` has them for each "
        "kernel "
        "that was simulated in cycles. A metric bears Nsight Compute's name only where its "
        "definition is the same; others begin with `lockstep__`. Counts are sums over all units. "
        "\"Elapsed\" is `sm__cycles_elapsed.max`, of each SM; \"active\" are the cycles in which "
        "an "
        "SM, or a sub-core for `smsp__`, holds a warp. Each formula has its test on counters made "
        "by "
        "hand in tests/models/gpu/metrics; what the counters themselves count is tested "
        "with the unit that counts it.\n\n"
        "| metric | unit | meaning |\n|---|---|---|\n";
    for (const MetricRow& row : metric_rows())
        page += fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.meaning);
    return page;
}

}  // namespace lockstep::gpu
