// SPDX-License-Identifier: Apache-2.0
// Steps one after the other, and where an array's cycles went.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "workloads/report/numbers.h"
#include "workloads/report/sections.h"

namespace lockstep::report {

namespace {

using html::escape;

constexpr std::string_view kStall = "stall_cycles.";

/// Cycles in which the step's array worked, and those lost, by reason.
std::vector<Part> cycles_of(const Metrics& metrics) {
    const double all = metrics["cycles"];
    std::vector<Part> parts = {
        {"array at work", all * metrics["lockstep__array_active.pct"] / 100}};
    if (!metrics.has("lockstep__array_active.pct"))
        parts[0].value = metrics["lockstep__stream_cycles"];
    double told = parts[0].value;
    for (const auto& [name, value] : metrics.list()) {
        if (!name.starts_with(kStall)) continue;
        parts.push_back({name.substr(kStall.size()), value});
        told += value;
    }
    parts.push_back({"else", std::max(all - told, 0.0)});
    return parts;
}

}  // namespace

std::string timeline_section(const RunFile& run) {
    double all = 0;
    for (const Step& step : run.steps) all += step.cycles();
    if (run.steps.size() < 2 || all <= 0) return "";
    constexpr double kName = 190, kEnd = 900, kLine = 20, kTop = 24;
    constexpr std::size_t kMost = 200;
    const std::size_t shown = std::min(run.steps.size(), kMost);
    std::string body;
    const double height = kTop + kLine * static_cast<double>(shown);
    for (int i = 0; i <= 4; ++i)
        body += fmt::format(
            "<path class=\"grid\" d=\"M{0:.0f} {1}V{2:.0f}\"/><text x=\"{0:.0f}\" "
            "y=\"{3}\" text-anchor=\"middle\">{4}</text>",
            kName + (kEnd - kName) * i / 4, kTop - 4, height, kTop - 9,
            number_text(std::round(all * i / 4)));
    double begin = 0, at = kTop;
    for (std::size_t i = 0; i < shown; ++i) {
        const Step& step = run.steps[i];
        const double x = kName + (kEnd - kName) * begin / all,
                     width = std::max((kEnd - kName) * step.cycles() / all, 0.8);
        constexpr std::size_t kNameWidth = 30;
        const std::string name =
            step.name.size() > kNameWidth ? step.name.substr(0, kNameWidth - 1) + "…" : step.name;
        body += fmt::format(
            "<g><title>{0}: {1} cycles, {2:.1f} %</title><text x=\"{3:.0f}\" y=\"{4:.0f}\" "
            "text-anchor=\"end\">{5}</text><rect class=\"effect\" x=\"{6:.1f}\" y=\"{7:.0f}\" "
            "width=\"{8:.1f}\" height=\"13\"/></g>",
            escape(step.name), number_text(step.cycles()), 100 * step.cycles() / all, kName - 8,
            at + 13, escape(name), x, at + 3, width);
        begin += step.cycles();
        at += kLine;
    }
    std::string text =
        "<h2>Schedule</h2><p class=\"dim\">Cycles from the run's begin; steps in the "
        "order of their ends, each with the time that it adds.</p>" +
        html::picture(kEnd + 20, height + 6, 560, "steps over time", body);
    if (shown < run.steps.size())
        text += fmt::format("<p>The first {} of {} steps; the table has all.</p>", shown,
                            run.steps.size());
    return text;
}

std::string losses_section(const RunFile& run) {
    std::vector<Part> all;
    std::map<std::string, std::size_t> places;
    html::Table table({{"step"},
                       {"cycles", true},
                       {"array used %", true, "of its multiply-adds a cycle"},
                       {"lost most to"},
                       {"read from DRAM", true},
                       {"written", true}});
    bool has_array = false;
    for (const Step& step : run.steps) {
        if (!step.metrics.has("array_utilization.pct")) continue;
        has_array = true;
        const std::vector<Part> parts = cycles_of(step.metrics);
        for (const Part& part : parts) {
            const auto [found, is_new] = places.emplace(part.name, all.size());
            if (is_new) all.push_back({part.name, 0});
            all[found->second].value += part.value;
        }
        const auto most =
            std::max_element(parts.begin() + 1, parts.end(),
                             [](const Part& a, const Part& b) { return a.value < b.value; });
        const double cycles = std::max(step.metrics["cycles"], 1.0);
        table.row({escape(step.name), number_text(step.metrics["cycles"]),
                   fmt::format("{:.1f}", step.metrics["array_utilization.pct"]),
                   most->value <= 0 ? ""
                                    : fmt::format("{} {:.0f} %", escape(most->name),
                                                  100 * std::min(most->value / cycles, 1.0)),
                   scaled_text(step.metrics["dram_bytes_read"], "B"),
                   scaled_text(step.metrics["dram_bytes_write"], "B")});
    }
    if (!has_array) return "";
    return "<h2>Where the array's cycles went</h2><p class=\"dim\">All steps together. Losses of "
           "one "
           "kind may overlap those of another.</p>" +
           stacked_bar(all, "where the array's cycles went") + "<h2>By layer</h2>" + table.text();
}

}  // namespace lockstep::report
