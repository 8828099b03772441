// SPDX-License-Identifier: Apache-2.0
// Time, and the "Speed Of Light" of Nsight Compute: how much of what the chip could sustain a
// kernel used, for each of its parts the busiest of the part's own units. Nsight Compute counts
// more units per part than are modelled; each that is modelled is in the maximum. Source: Nsight
// Compute's documentation (Kernel Profiling Guide, "Metrics Decoder" and "Metrics Structure").
#include <algorithm>

#include "models/gpu/metrics/groups.h"

namespace lockstep::gpu {

void add_speed_of_light_metrics(MetricTable& table) {
    const auto elapsed = [](const LaunchView& l) { return l.measured.cycles; };
    const auto sms = [](const LaunchView& l) { return l.peaks.sms; };
    const auto l1 = [](const LaunchView& l) { return l1_throughput(l, l.sm_cycles()); };
    table.number("gpu__time_duration.sum", "ns", "from the launch to the end of the last CTA",
                 [](const LaunchView& l) { return l.measured.seconds * 1e9; });
    table.count("sm__cycles_elapsed.max", "cycle",
                "from the launch to the end of the last CTA, in cycles of the SMs' clock, with "
                "what the front end and the distributor add "
                "before and after (`launch.begin_latency`, `launch.end_latency`); the driver's "
                "overhead is not in it",
                elapsed);
    table.ratio("sm__cycles_elapsed.avg.per_second", "Hz", "the SMs' clock", elapsed,
                [](const LaunchView& l) { return l.measured.seconds; });
    table.ratio("sm__cycles_active.avg", "cycle", "in which an SM holds a warp, of an average SM",
                sm<&SmCounters::cycles_active>, sms);
    table.ratio("smsp__cycles_active.avg", "cycle",
                "in which a sub-core holds a warp, of an average sub-core",
                sm<&SmCounters::sub_core_cycles_active>,
                [](const LaunchView& l) { return l.peaks.sms * l.peaks.sub_cores; });

    table.number("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%",
                 "the most used of issue slots and pipes, of elapsed", sm_throughput);
    table.number("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%",
                 "the most used of L1 (of elapsed), L2 and DRAM", [=](const LaunchView& l) {
                     return std::max({l1(l), l2_throughput(l), dram_throughput(l)});
                 });
    for (const char* name : {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                             "dram__throughput.avg.pct_of_peak_sustained_elapsed"})
        table.number(name, "%", "bytes over what `dram.bus_width` moves at `clock.memory`",
                     dram_throughput);
    table.number(
        "l1tex__throughput.avg.pct_of_peak_sustained_active", "%",
        "the most used of the instructions that come in, L1's tag stage, its data stage and the "
        "ways to and from the crossbar, of active",
        [](const LaunchView& l) {
            return l1_throughput(l, static_cast<double>(l.measured.sm.cycles_active));
        });
    table.number("lts__throughput.avg.pct_of_peak_sustained_elapsed", "%",
                 "of an L2 of one part: sectors looked up over those that its slices can (Nsight "
                 "Compute on RTX 3090: vector add 39.6, row sums 22.5; here 40.2 and 23.1); of two "
                 "parts: as the next",
                 l2_throughput);
    table.number("lockstep__l2_slices_busy.pct", "%",
                 "slice cycles in which the busier one of tags and data stage was in use", l2_busy);
}

}  // namespace lockstep::gpu
