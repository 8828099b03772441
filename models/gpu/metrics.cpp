// SPDX-License-Identifier: Apache-2.0
// The "Speed Of Light" of Nsight Compute: how much of what the chip could sustain a kernel used,
// for each of its parts the busiest of the part's own units. Nsight Compute counts more units per
// part than are modelled; each that is modelled is in the maximum. Source: Nsight Compute's
// documentation (Kernel Profiling Guide, "Metrics Decoder" and "Metrics Structure").
#include "models/gpu/metrics.h"

#include <algorithm>

#include "models/gpu/metric_groups.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

Peaks::Peaks(const config::Machine& machine)
    : sms(static_cast<std::uint64_t>(machine.integer("sm.count"))),
      sub_cores(static_cast<std::uint64_t>(machine.integer("sm.sub_cores"))),
      max_warps(static_cast<std::uint64_t>(machine.integer("sm.max_warps"))),
      fma_interval(static_cast<double>(machine.integer("pipe.fma.interval"))),
      fp64_pipes(machine.boolean("pipe.fp64.shared") ? 1 : sub_cores),
      lsu_interval(static_cast<double>(machine.integer("sub_core.arbiter_interval"))),
      has_warpgroups(machine.number("tensor_core.warpgroup.macs.fp16") != 0),
      crossbar_bytes(machine.number("crossbar.reply_bandwidth")),
      l2_slices(static_cast<std::uint64_t>(machine.integer("l2.slices"))),
      dram_hertz(machine.number("clock.memory") * 1e6) {
    constexpr double kEdges = 2, kBits = 8;
    dram_bytes_per_second =
        static_cast<double>(machine.integer("dram.bus_width")) / kBits * kEdges * dram_hertz;
}

namespace {

/// No unit does more than it can: whoever reads the share would trust it.
void check_share(const char* unit, double percent) {
    constexpr double kRounding = 1e-6;
    LOCKSTEP_CHECK(percent <= 100 + kRounding, "{}: {}% of its peak", unit, percent);
}

}  // namespace

stats::Metrics derive_metrics(const Peaks& peaks, const LaunchShape& launch,
                              const Measurement& measured) {
    MetricList list;
    const auto cycles = static_cast<double>(measured.cycles);
    const double elapsed = cycles * static_cast<double>(peaks.sms);
    const auto active = static_cast<double>(measured.sm.cycles_active);
    list.number("gpu__time_duration.sum", measured.seconds * 1e9);
    list.count("sm__cycles_elapsed.max", measured.cycles);
    list.ratio("sm__cycles_elapsed.avg.per_second", cycles, measured.seconds);
    list.ratio("sm__cycles_active.avg", active, peaks.sms);
    list.ratio("smsp__cycles_active.avg", measured.sm.sub_core_cycles_active,
               peaks.sms * peaks.sub_cores);

    const double l1 = l1_throughput(peaks, measured, elapsed);
    const double l2 = l2_throughput(peaks, measured);
    const double dram = dram_throughput(peaks, measured);
    check_share("L1", l1);
    check_share("L2", l2);
    check_share("DRAM", dram);
    list.number("sm__throughput.avg.pct_of_peak_sustained_elapsed", sm_throughput(peaks, measured));
    list.number("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                std::max({l1, l2, dram}));
    list.number("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", dram);
    list.number("dram__throughput.avg.pct_of_peak_sustained_elapsed", dram);
    list.number("l1tex__throughput.avg.pct_of_peak_sustained_active",
                l1_throughput(peaks, measured, active));
    list.number("lts__throughput.avg.pct_of_peak_sustained_elapsed", l2);

    add_sm_metrics(list, peaks, measured);
    add_memory_metrics(list, peaks, measured);
    add_launch_metrics(list, peaks, launch);
    add_cluster_metrics(list, launch, measured);
    return list.take();
}

}  // namespace lockstep::gpu
