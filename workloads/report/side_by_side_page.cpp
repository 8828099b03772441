// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "workloads/report/numbers.h"
#include "workloads/report/sections.h"
#include "workloads/report/side_by_side.h"

namespace lockstep::report {

namespace {

using html::escape;

std::string cell(const std::optional<double>& value, const char* unit) {
    if (!value) return "–";
    return *unit == 0 ? number_text(*value) : scaled_text(*value, unit);
}

std::string table_of(const std::vector<MachineLine>& lines) {
    html::Table table({{"machine"},
                       {""},
                       {"cycles", true},
                       {"time", true},
                       {"samples a second", true},
                       {"used %", true, "of an array's multiply-adds; of GPUs the SMs' throughput"},
                       {"DRAM", true, "bytes read and written"},
                       {"energy a sample", true},
                       {"error", true, "root mean square, relative to the exact result"}});
    for (const MachineLine& line : lines) {
        if (!line.failure.empty()) {
            table.row({escape(line.machine), escape(line.failure), "", "", "", "", "", "", ""});
            continue;
        }
        table.row({escape(line.machine), escape(line.basis), cell(line.cycles, ""),
                   cell(line.seconds, "s"), line.rate ? number_text(std::round(*line.rate)) : "–",
                   line.utilization ? fmt::format("{:.3g}", *line.utilization) : "–",
                   cell(line.dram_bytes, "B"), cell(line.joules, "J"),
                   line.error ? fmt::format("{:.1e}", *line.error) : "–"});
    }
    return table.text();
}

/// A machine's place in the roofline: what was done a second, by the bytes that passed.
struct Place {
    std::string machine;
    double intensity = 0, rate = 0, peak = 0, bandwidth = 0;
};

double operations_of(const RunFile& run) {
    double macs = 0;
    for (const Step& step : run.steps) {
        if (!step.is_launch()) {
            macs += step.metrics["macs"];
            continue;
        }
        macs += step.metrics["lockstep__tensor_fma.sum"];
        for (const char* op : {"ffma", "dfma", "hfma"})
            macs +=
                step.metrics[fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", op)];
    }
    return 2 * macs;
}

std::vector<Place> places_of(const std::vector<MachineLine>& lines,
                             const std::vector<MachineRun>& runs) {
    std::vector<Place> places;
    for (const MachineRun& made : runs) {
        const auto line = std::ranges::find(lines, made.run.machine, &MachineLine::machine);
        const DataSheet sheet = data_sheet(*made.machine);
        const double operations = operations_of(made.run);
        if (line == lines.end() || !line->seconds || !line->dram_bytes || *line->dram_bytes <= 0 ||
            operations <= 0 || sheet.most() <= 0 || sheet.bandwidth <= 0)
            continue;
        places.push_back({made.run.machine, operations / *line->dram_bytes,
                          operations / *line->seconds, sheet.most(), sheet.bandwidth});
    }
    return places;
}

std::string roofline_of(const std::vector<Place>& places) {
    html::Range x, y;
    for (const Place& place : places) {
        x.include(place.intensity);
        x.include(place.peak / place.bandwidth);
        y.include(place.rate);
        y.include(place.peak);
    }
    if (x.is_empty()) return "";
    html::Plot plot({x}, {y}, 720, 440, "operations a second over operations a byte of DRAM");
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        const std::string colour = fmt::format("c{}", i % 10);
        const html::Range xs = plot.x_range(), ys = plot.y_range();
        const double from = std::max(xs.least, ys.least / place.bandwidth),
                     ridge = std::min(place.peak / place.bandwidth, xs.most);
        if (from < ridge)
            plot.line(from, from * place.bandwidth, ridge, ridge * place.bandwidth, "roof");
        if (ridge < xs.most) {
            plot.line(ridge, place.peak, xs.most, place.peak, "roof");
            plot.label(ridge, place.peak, "roof of " + place.machine);
        }
        plot.label(place.intensity, place.rate, place.machine);
        plot.point(place.intensity, place.rate, html::Mark::kCircle, colour.c_str(),
                   fmt::format("{}: {:.3g} operations a byte, {}; at most {}", place.machine,
                               place.intensity, scaled_text(place.rate, "OP/s"),
                               scaled_text(place.peak, "OP/s")));
    }
    return "<h2>Roofline</h2><p class=\"dim\">Multiply-adds counted twice. Each machine has its "
           "own "
           "roof: its fastest precision's peak, and the bandwidth of its memory.</p>" +
           plot.text("operations a byte", "operations a second");
}

double seconds_of(const Step& step, const RunFile& run) {
    if (step.is_launch()) return step.metrics["gpu__time_duration.sum"] * 1e-9;
    if (step.metrics.has("host__seconds")) return step.metrics["host__seconds"];
    const double cycles = run.totals["cycles"];
    return cycles > 0 ? step.cycles() / cycles * run.totals["seconds"] : 0;
}

std::string layers_of(const MachineRun& made) {
    std::vector<Part> parts;
    for (const Step& step : made.run.steps)
        parts.push_back({step.name, seconds_of(step, made.run)});
    constexpr std::size_t kMost = 9;
    if (parts.size() > kMost + 1) {
        std::ranges::stable_sort(parts, std::greater<>(), &Part::value);
        double others = 0;
        for (std::size_t i = kMost; i < parts.size(); ++i) others += parts[i].value;
        const std::size_t count = parts.size() - kMost;
        parts.resize(kMost);
        parts.push_back({fmt::format("{} others", count), others});
    }
    return fmt::format("<h3>{}</h3>{}", escape(made.run.machine),
                       stacked_bar(parts, "time by layer on " + made.run.machine));
}

}  // namespace

std::string side_by_side_page(const std::string& workload, const std::vector<MachineLine>& lines,
                              const std::vector<MachineRun>& runs) {
    std::string body =
        fmt::format(
            "<h1>{}</h1><p>On {} machines. What is simulated is the model's time, what is "
            "measured this computer's, a roofline the least that a data sheet allows.</p>",
            escape(workload), lines.size()) +
        table_of(lines) + roofline_of(places_of(lines, runs)) + "<h2>Time by layer</h2>";
    for (const MachineRun& made : runs) body += layers_of(made);
    return html::page(workload + " on several machines", body, page_style());
}

}  // namespace lockstep::report
