// SPDX-License-Identifier: Apache-2.0
#include "workloads/report/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/report/numbers.h"

namespace lockstep::report {

namespace {

constexpr std::string_view kSmThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

std::optional<double> dram_bytes_of(const RunFile& run) {
    double bytes = 0;
    bool is_told = false;
    for (const Step& step : run.steps) {
        is_told |= step.metrics.has("dram__bytes.sum") || step.metrics.has("dram_bytes_read");
        bytes += step.metrics["dram__bytes.sum"] + step.metrics["dram_bytes_read"] +
                 step.metrics["dram_bytes_write"];
    }
    if (!is_told) return std::nullopt;
    return bytes;
}

std::optional<double> above_zero(double value) {
    if (value <= 0) return std::nullopt;
    return value;
}

/// A column of the table: its heading, and a line's cell.
struct Column {
    const char* name;
    std::string (*cell)(const MachineLine&);
};

std::string or_dash(const std::optional<double>& value, std::string (*text)(double)) {
    if (!value) return {'-'};
    return text(*value);
}

const std::array<Column, 9>& columns() {
    static const std::array<Column, 9> kColumns{{
        {"machine", [](const MachineLine& l) { return l.machine; }},
        {"", [](const MachineLine& l) { return l.basis; }},
        {"cycles", [](const MachineLine& l) { return or_dash(l.cycles, number_text); }},
        {"time",
         [](const MachineLine& l) {
             return or_dash(l.seconds, [](double s) { return scaled_text(s, "s"); });
         }},
        {"samples/s",
         [](const MachineLine& l) {
             return or_dash(l.rate, [](double r) { return scaled_text(r, ""); });
         }},
        {"used %",
         [](const MachineLine& l) {
             return or_dash(l.utilization, [](double u) { return fmt::format("{:.3g}", u); });
         }},
        {"DRAM",
         [](const MachineLine& l) {
             return or_dash(l.dram_bytes, [](double b) { return scaled_text(b, "B"); });
         }},
        {"energy/sample",
         [](const MachineLine& l) {
             return or_dash(l.joules, [](double j) { return scaled_text(j, "J"); });
         }},
        {"error",
         [](const MachineLine& l) {
             return or_dash(l.error, [](double e) { return fmt::format("{:.1e}", e); });
         }},
    }};
    return kColumns;
}

}  // namespace

std::optional<double> utilization_of(const RunFile& run) {
    double weighted = 0, cycles = 0;
    bool is_told = false;
    for (const Step& step : run.steps) {
        const std::string_view name =
            step.is_launch() ? kSmThroughput : std::string_view("array_utilization.pct");
        is_told |= step.metrics.has(name);
        weighted += step.metrics[name] * step.cycles();
        cycles += step.cycles();
    }
    if (!is_told || cycles <= 0) return std::nullopt;
    return weighted / cycles;
}

MachineLine line_of(const RunFile& run, double samples) {
    MachineLine line;
    line.machine = run.machine;
    line.basis = run.mode;
    if (run.mode == "cycle") line.basis = "simulated";
    if (run.mode == "emulate") line.basis = "emulated";
    line.cycles = above_zero(run.totals["cycles"]);
    line.seconds = above_zero(run.totals["seconds"]);
    if (line.seconds) line.rate = samples / *line.seconds;
    line.utilization = utilization_of(run);
    line.dram_bytes = dram_bytes_of(run);
    if (run.totals.has("energy.total")) line.joules = run.totals["energy.total"] / samples;
    if (run.totals.has("error.rms")) line.error = run.totals["error.rms"];
    return line;
}

std::string side_by_side_text(const std::vector<MachineLine>& lines) {
    std::vector<std::array<std::string, 9>> cells;
    std::array<std::size_t, 9> widths{};
    for (std::size_t c = 0; c < columns().size(); ++c)
        widths[c] = std::string_view(columns()[c].name).size();
    for (const MachineLine& line : lines) {
        cells.emplace_back();
        for (std::size_t c = 0; c < columns().size(); ++c) {
            cells.back()[c] = columns()[c].cell(line);
            widths[c] = std::max(widths[c], cells.back()[c].size());
        }
    }
    std::string text;
    const auto add_row = [&](auto&& cell) {
        for (std::size_t c = 0; c < columns().size(); ++c)
            text += c < 2 ? fmt::format("{:<{}}  ", cell(c), widths[c])
                          : fmt::format("{:>{}}{}", cell(c), widths[c],
                                        c + 1 == columns().size() ? "" : "  ");
        text += "\n";
    };
    add_row([](std::size_t c) { return std::string(columns()[c].name); });
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].failure.empty())
            add_row([&](std::size_t c) { return cells[i][c]; });
        else
            text += fmt::format("{:<{}}  {}\n", lines[i].machine, widths[0], lines[i].failure);
    return text;
}

}  // namespace lockstep::report
