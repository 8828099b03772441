// SPDX-License-Identifier: Apache-2.0
// Thresholds are those of Nsight Compute's Speed of Light advice: a unit that is busy for 60% of
// the time bounds a kernel; below, its latencies do.
#include "validation/accuracy/gpu_class.h"

#include <algorithm>
#include <string_view>

#include "sim/stats/find.h"

namespace lockstep::validation {

namespace {

constexpr double kBusy = 60;         // percent
constexpr double kMostlyIdle = 0.5;  // of a kernel's time no SM works
constexpr double kManyAtomics = 0.01;

double value_of(const stats::Step& step, std::string_view name) {
    return stats::number(step.metrics, name);
}

}  // namespace

std::string gpu_class(const stats::Statistics& statistics) {
    const stats::Step* longest = nullptr;
    double most = 0;
    for (const stats::Step& step : statistics.steps()) {
        const double cycles = value_of(step, "sm__cycles_elapsed.max");
        if (cycles <= most) continue;
        most = cycles;
        longest = &step;
    }
    if (longest == nullptr) return "";
    const auto value = [&](std::string_view name) { return value_of(*longest, name); };
    if (value("sm__cycles_active.avg") < kMostlyIdle * most) return "few_sms";
    if (value("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed") > kBusy / 2)
        return "tensor";
    if (value("dram__throughput.avg.pct_of_peak_sustained_elapsed") > kBusy) return "dram";
    const double instructions = value("smsp__inst_executed.sum");
    if (value("lockstep__inst_executed_op_atomic.sum") > kManyAtomics * instructions)
        return "atomics";
    if (value("lockstep__l2_slices_busy.pct") > kBusy) return "l2";
    if (value("l1tex__throughput.avg.pct_of_peak_sustained_active") > kBusy) {
        const double shared = value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
                              value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
        constexpr double kSectorsOfAPass = 4;
        return shared * kSectorsOfAPass > value("l1tex__t_sectors.sum") ? "shared" : "l1";
    }
    constexpr double kPercent = 100;
    if (kPercent * value("smsp__issue_active.avg.per_cycle_active") > kBusy) return "compute";
    return "latency";
}

}  // namespace lockstep::validation
