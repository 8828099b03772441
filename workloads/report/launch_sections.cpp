// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute's report has of a launch, from the same metrics.
#include <fmt/format.h>

#include <algorithm>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "sim/stats/profile_text.h"
#include "workloads/report/numbers.h"
#include "workloads/report/rules.h"
#include "workloads/report/sections.h"

namespace lockstep::report {

using html::escape;

std::string speed_of_light_section(const Step& step) {
    const auto share = [&](const char* name, const char* metric) {
        return Part{name, step.metrics[metric]};
    };
    return "<h3>Speed of Light</h3><p class=\"dim\">Shares of what each part could sustain while "
           "the "
           "kernel ran; L1 while SMs had warps.</p>" +
           share_bars(
               {share("SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
                share("memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
                share("L1", "l1tex__throughput.avg.pct_of_peak_sustained_active"),
                share("L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
                share("DRAM", "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
                share("Tensor Cores",
                      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"),
                {"issue slots", 100 * step.metrics["smsp__issue_active.avg.per_cycle_active"]}},
               "shares of peak throughput");
}

std::string advice_section(const Step& step, const config::Machine& machine) {
    const std::vector<Advice> list = advice_on(step, machine);
    if (list.empty()) return "<h3>What to do next</h3><p>No rule finds anything to gain.</p>";
    std::string text = "<h3>What to do next</h3><ol class=\"advice\">";
    for (const Advice& advice : list)
        text += fmt::format("<li><b>{}</b> <span class=\"gain\">up to {:.0f} %</span><p>{}</p>",
                            escape(advice.rule), 100 * advice.gain, escape(advice.text));
    return text +
           "</ol><p class=\"dim\">Gains are estimates of the time that would go if this alone went "
           "away; they do not add up.</p>";
}

std::string stall_section(const Step& step) {
    constexpr std::string_view kBegin = "smsp__average_warps_issue_stalled_",
                               kEnd = "_per_issue_active.ratio";
    std::vector<Part> parts;
    for (const auto& [name, value] : step.metrics.list()) {
        if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) continue;
        std::string state = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
        std::ranges::replace(state, '_', ' ');
        parts.push_back({state, value});
    }
    std::ranges::stable_sort(parts, std::greater<>(), &Part::value);
    const std::string bar = stacked_bar(parts, "where the warps' time went");
    if (bar.empty()) return "";
    return fmt::format(
        "<h3>Where the warps' time went</h3><p class=\"dim\">{:.1f} cycles between two "
        "instructions of a warp.</p>{}",
        step.metrics["smsp__average_warp_latency_per_inst_issued.ratio"], bar);
}

std::string occupancy_section(const Step& step, const config::Machine& machine) {
    const Metrics& m = step.metrics;
    if (!m.has("launch__occupancy_limit_warps")) return "";
    const std::pair<const char*, const char*> limits[] = {
        {"registers", "launch__occupancy_limit_registers"},
        {"shared memory", "launch__occupancy_limit_shared_mem"},
        {"CTAs", "launch__occupancy_limit_blocks"},
        {"warps", "launch__occupancy_limit_warps"}};
    double least = m[limits[0].second];
    for (const auto& [name, metric] : limits) least = std::min(least, m[metric]);
    html::Table table({{"limited by"}, {"CTAs of an SM", true}});
    for (const auto& [name, metric] : limits)
        table.row({name, number_text(m[metric])}, m[metric] == least ? "limit" : "");
    const double warps = static_cast<double>(machine.integer("sm.max_warps"));
    return fmt::format(
               "<h3>Occupancy</h3><p>{:.1f} of {:.0f} warps of an SM could be resident "
               "({:.1f} %), {:.1f} were ({:.1f} %). {} registers a thread, {} of shared memory a "
               "CTA, {:.2f} waves.</p>",
               warps * m["sm__maximum_warps_per_active_cycle_pct"] / 100, warps,
               m["sm__maximum_warps_per_active_cycle_pct"],
               m["sm__warps_active.avg.per_cycle_active"],
               m["sm__warps_active.avg.pct_of_peak_sustained_active"],
               number_text(m["launch__registers_per_thread"]),
               number_text(m["launch__shared_mem_per_block_static"] +
                           m["launch__shared_mem_per_block_dynamic"]) +
                   " B",
               m["launch__waves_per_multiprocessor"]) +
           table.text();
}

std::string source_section(const Step& step) {
    const stats::Profile& profile = step.profile;
    if (profile.rows.empty()) return "";
    std::uint64_t all = 0;
    for (const auto& row : profile.rows) all += profile.stalled(row);
    const bool has_sources =
        std::ranges::any_of(profile.rows, [](const auto& row) { return !row.source.empty(); });
    std::vector<html::Column> columns = {{"pc"}};
    if (has_sources) columns.push_back({"source"});
    for (const auto& [name, title] :
         {std::pair{"issues", "warp instructions"}, {"stalled %", "of all waiting of warps"}})
        columns.push_back({name, true, title});
    columns.push_back({"for most", false, "why warps wait to issue it"});
    columns.push_back({"sectors", true, "of L1 a request; 4 for ordered words of 32 bits"});
    columns.push_back({"conflicts", true, "wavefronts of shared memory for bank conflicts"});
    columns.push_back({"instruction"});
    html::Table table(columns);
    for (const auto& row : profile.rows) {
        const std::uint64_t stalled = profile.stalled(row);
        const double share = all == 0 ? 0 : static_cast<double>(stalled) / static_cast<double>(all);
        std::vector<std::string> cells = {fmt::format("{:#06x}", row.pc)};
        if (has_sources) cells.push_back(escape(row.source));
        cells.push_back(number_text(static_cast<double>(profile.value(row, "inst_executed"))));
        cells.push_back(fmt::format("<span class=\"heat\" style=\"--h:{:.3f}\">{:.1f}</span>",
                                    std::min(share * 5, 1.0), 100 * share));
        cells.push_back(escape(stats::main_stall(profile, row)));
        const double requests = static_cast<double>(profile.value(row, "l1_requests"));
        cells.push_back(
            requests == 0
                ? ""
                : fmt::format("{:.1f}",
                              static_cast<double>(profile.value(row, "l1_sectors")) / requests));
        const std::uint64_t conflicts = profile.value(row, "bank_conflicts");
        cells.push_back(conflicts == 0 ? "" : number_text(static_cast<double>(conflicts)));
        cells.push_back("<code>" + escape(row.sass) + "</code>");
        table.row(cells);
    }
    return "<details open><summary><b>By instruction</b></summary>" + table.text() + "</details>";
}

}  // namespace lockstep::report
