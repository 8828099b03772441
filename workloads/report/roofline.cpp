// SPDX-License-Identifier: Apache-2.0
// FLOP/s over FLOP a byte, with a ceiling for each level of memory (Williams, Waterman and
// Patterson 2009; by level: Yang et al. 2020). A point for each level: the same FLOP/s over the
// bytes that passed there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "workloads/report/numbers.h"
#include "workloads/report/sections.h"

namespace lockstep::report {

namespace {

constexpr double kSectorBytes = 32, kWavefrontBytes = 128;

struct Level {
    const char* name;
    double bytes;      ///< that passed
    double bandwidth;  ///< bytes a second, at most
};

double count(const Step& step, const char* op) {
    return step.metrics[fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", op)];
}

/// Of one precision: what was done, and the most that the pipe does.
struct Work {
    const char* name;
    double operations, peak;
};

std::vector<Work> works_of(const Step& step, const config::Machine& machine) {
    const double sms = static_cast<double>(machine.integer("sm.count")),
                 sub_cores = static_cast<double>(machine.integer("sm.sub_cores")),
                 hertz = machine.number("clock.sm") * 1e6;
    constexpr double kLanes = 32, kFused = 2;
    const auto lanes = [&](const char* interval, double units) {
        return sms * units * kLanes / static_cast<double>(machine.integer(interval)) * kFused *
               hertz;
    };
    const double fp64_units = machine.boolean("pipe.fp64.shared") ? 1 : sub_cores;
    return {{"FP32", count(step, "fadd") + count(step, "fmul") + kFused * count(step, "ffma"),
             lanes("pipe.fma.interval", sub_cores)},
            {"FP64", count(step, "dadd") + count(step, "dmul") + kFused * count(step, "dfma"),
             lanes("pipe.fp64.interval", fp64_units)},
            {"FP16", count(step, "hadd") + count(step, "hmul") + kFused * count(step, "hfma"),
             kFused * lanes("pipe.fp16.interval", sub_cores)},
            {"Tensor Cores", kFused * step.metrics["lockstep__tensor_fma.sum"],
             sms * sub_cores * machine.number("tensor_core.macs.fp16") * kFused * hertz}};
}

}  // namespace

std::string roofline_section(const Step& step, const config::Machine& machine) {
    const Metrics& m = step.metrics;
    const double seconds = m["gpu__time_duration.sum"] * 1e-9;
    double operations = 0, peak = 0;
    std::string done;
    for (const Work& work : works_of(step, machine)) {
        if (work.operations <= 0) continue;
        operations += work.operations;
        peak = std::max(peak, work.peak);
        done += fmt::format("{}{}: {} of {}", done.empty() ? "" : ", ", work.name,
                            scaled_text(work.operations / seconds, "FLOP/s"),
                            scaled_text(work.peak, "FLOP/s"));
    }
    if (operations <= 0 || seconds <= 0) return "";
    const double hertz = machine.number("clock.sm") * 1e6;
    const double shared = m["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] +
                          m["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"];
    const Level levels[] = {
        {"L1 and shared memory",
         m["l1tex__t_sectors.sum"] * kSectorBytes + shared * kWavefrontBytes,
         static_cast<double>(machine.integer("sm.count")) * kWavefrontBytes * hertz},
        {"L2", m["lts__t_sectors_srcnode_gpc.sum"] * kSectorBytes,
         static_cast<double>(machine.integer("l2.slices")) * machine.number("l2.slice_bandwidth") *
             hertz},
        {"DRAM", m["dram__bytes.sum"], machine.number("dram.bandwidth") * 1e9}};
    const double rate = operations / seconds;
    html::Range x, y;
    y.include(rate);
    y.include(peak);
    for (const Level& level : levels) {
        if (level.bytes <= 0) continue;
        x.include(operations / level.bytes);
        x.include(peak / level.bandwidth);
    }
    if (x.is_empty()) return "";
    html::Plot plot({x}, {y}, 640, 420,
                    "FLOP/s over FLOP a byte, by level of memory; the table has the numbers");
    html::Table table({{"level"},
                       {"bytes", true},
                       {"FLOP a byte", true},
                       {"bandwidth", true},
                       {"of its most", true}});
    const char* const marks[] = {"c0", "c1", "c2"};
    for (std::size_t i = 0; i < std::size(levels); ++i) {
        const Level& level = levels[i];
        if (level.bytes <= 0) continue;
        const double from = std::max(plot.x_range().least, plot.y_range().least / level.bandwidth);
        const double ridge = std::min(peak / level.bandwidth, plot.x_range().most);
        plot.line(from, from * level.bandwidth, ridge, ridge * level.bandwidth, "roof");
        if (ridge < plot.x_range().most) plot.line(ridge, peak, plot.x_range().most, peak, "roof");
        const double intensity = operations / level.bytes;
        plot.label(intensity, rate, level.name);
        plot.point(intensity, rate, html::Mark::kCircle, marks[i],
                   fmt::format("{}: {:.3g} FLOP a byte, {}", level.name, intensity,
                               scaled_text(rate, "FLOP/s")));
        table.row({level.name, scaled_text(level.bytes, "B"), fmt::format("{:.3g}", intensity),
                   scaled_text(level.bytes / seconds, "B/s"),
                   fmt::format("{:.1f} %", 100 * level.bytes / seconds / level.bandwidth)});
    }
    return fmt::format("<h3>Roofline</h3><p>{}.</p>{}{}", html::escape(done),
                       plot.text("FLOP a byte", "FLOP/s"), table.text());
}

}  // namespace lockstep::report
