// SPDX-License-Identifier: Apache-2.0
#include "workloads/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "workloads/report/numbers.h"
#include "workloads/report/sections.h"

namespace lockstep::report {

namespace {

using html::escape;

/// Colours that people who do not see all of them can tell apart (Okabe and Ito 2008).
constexpr std::string_view kStyle =
    ".effect{fill:var(--test)}.c0{fill:#0072b2}.c1{fill:#e69f00}.c2{fill:#009e73}.c3{fill:#cc79a7}"
    ".c4{fill:#56b4e9}.c5{fill:#d55e00}.c6{fill:#b8a800}.c7{fill:#7f7f7f}.c8{fill:#8c564b}"
    ".c9{fill:#b0b0b0}.box{fill:var(--soft);stroke:var(--line)}.flow{stroke:var(--test);fill:none}"
    ".tip{fill:var(--test)}.legend{display:flex;flex-wrap:wrap;gap:.2em 1.2em;padding:0;"
    "list-style:none;margin:.5em 0;font-size:13px}.advice{padding-left:1.4em}.advice "
    "li{margin:.7em 0}"
    ".advice p{margin:.15em "
    "0;max-width:72ch}.gain{color:var(--good);font-weight:600;margin-left:.5em}"
    ".limit td{font-weight:600}.facts{display:flex;flex-wrap:wrap;gap:.3em 2em;padding:0;"
    "list-style:none;margin:.6em 0}.facts b{display:block;font-size:1.3em;font-weight:600}"
    "code{font:12px ui-monospace,monospace;white-space:nowrap}.heat{display:inline-block;padding:0 "
    ".35em;border-radius:3px;background:color-mix(in srgb,var(--train) "
    "calc(var(--h)*70%),transparent)}"
    "section{border-top:1px solid var(--line);margin-top:2em}";

std::string dimensions(const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{} × {} × {}", size[0], size[1], size[2]);
}

std::string fact(const std::string& value, const std::string& name) {
    return fmt::format("<li><b>{}</b>{}", escape(value), escape(name));
}

std::string header(const RunFile& run) {
    std::string text = fmt::format("<h1>{}</h1><p>On {}, {} mode{}.</p>", escape(run.workload),
                                   escape(run.machine), escape(run.mode),
                                   run.version.empty() ? "" : ", Lockstep " + escape(run.version));
    std::string settings;
    for (const std::string& set : run.overrides) settings += " " + set;
    for (const std::string& option : run.options) settings += " " + option;
    if (!settings.empty()) text += "<p class=\"dim\">With" + escape(settings) + ".</p>";
    text += "<ul class=\"facts\">";
    if (run.totals["cycles"] > 0) text += fact(number_text(run.totals["cycles"]), "cycles");
    if (run.totals["seconds"] > 0)
        text += fact(scaled_text(run.totals["seconds"], "s"), "simulated time");
    if (run.totals.has("energy.total"))
        text += fact(scaled_text(run.totals["energy.total"], "J"), "energy");
    text += fact(number_text(static_cast<double>(run.steps.size())),
                 run.steps.size() == 1 ? "step" : "steps");
    return text + "</ul>";
}

/// Launches of one kernel, together.
std::string kernel_table(const RunFile& run) {
    double all = 0;
    std::vector<const Step*> launches;
    for (const Step& step : run.steps)
        if (step.is_launch()) {
            launches.push_back(&step);
            all += step.metrics["gpu__time_duration.sum"];
        }
    if (launches.size() < 2 || all <= 0) return "";
    html::Table table({{"kernel"},
                       {"grid"},
                       {"block"},
                       {"cycles", true},
                       {"time", true},
                       {"of all %", true},
                       {"SM %", true},
                       {"memory %", true}});
    for (const Step* step : launches) {
        const Metrics& m = step->metrics;
        table.row(
            {escape(step->name), dimensions(step->grid), dimensions(step->block),
             number_text(step->cycles()), scaled_text(m["gpu__time_duration.sum"] * 1e-9, "s"),
             fmt::format("{:.1f}", 100 * m["gpu__time_duration.sum"] / all),
             fmt::format("{:.1f}", m["sm__throughput.avg.pct_of_peak_sustained_elapsed"]),
             fmt::format("{:.1f}",
                         m["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"])});
    }
    return "<h2>Kernels</h2>" + table.text();
}

std::string launch_page(const Step& step, const config::Machine& machine) {
    return fmt::format("<section><h2>{}</h2><p class=\"dim\">grid {}, block {}, {} cycles, {}</p>",
                       escape(step.name), dimensions(step.grid), dimensions(step.block),
                       number_text(step.cycles()),
                       scaled_text(step.metrics["gpu__time_duration.sum"] * 1e-9, "s")) +
           speed_of_light_section(step) + advice_section(step, machine) +
           roofline_section(step, machine) + stall_section(step) + memory_section(step) +
           occupancy_section(step, machine) + source_section(step) + "</section>";
}

/// The longest launches, in full.
std::string launch_pages(const RunFile& run, const config::Machine& machine) {
    constexpr std::size_t kMost = 12;
    std::vector<const Step*> launches;
    for (const Step& step : run.steps)
        if (step.is_launch() && step.metrics.has("smsp__issue_active.avg.per_cycle_active"))
            launches.push_back(&step);
    const std::size_t all = launches.size();
    std::ranges::stable_sort(launches, std::greater<>(),
                             [](const Step* step) { return step->cycles(); });
    if (all > kMost) launches.resize(kMost);
    std::string text;
    for (const Step* step : launches) text += launch_page(*step, machine);
    if (all > kMost)
        text +=
            fmt::format("<p class=\"dim\">The {} longest of {} launches in full.</p>", kMost, all);
    return text;
}

std::string metric_tables(const RunFile& run) {
    std::string text = "<h2>All metrics</h2>";
    for (const Step& step : run.steps) {
        html::Table table({{"metric"}, {"value", true}});
        for (const auto& [name, value] : step.metrics.list())
            table.row({escape(name), number_text(value)});
        text += fmt::format("<details><summary>{}</summary>{}</details>", escape(step.name),
                            table.text());
    }
    return text;
}

}  // namespace

std::string_view page_style() {
    return kStyle;
}

std::string run_page(const RunFile& run, const config::Machine& machine) {
    std::string body =
        header(run) + kernel_table(run) + timeline_section(run) + losses_section(run);
    if (machine.kind() == "gpu") body += launch_pages(run, machine);
    return html::page(run.workload + " on " + run.machine, body + metric_tables(run), kStyle);
}

}  // namespace lockstep::report
