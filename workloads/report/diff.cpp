// SPDX-License-Identifier: Apache-2.0
#include "workloads/report/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "workloads/report/numbers.h"

namespace lockstep::report {

namespace {

using html::escape;

std::vector<MetricPair> pair_metrics(const Metrics* a, const Metrics* b) {
    std::vector<MetricPair> pairs;
    if (a != nullptr)
        for (const auto& [name, value] : a->list())
            pairs.push_back(
                {name, value,
                 b != nullptr && b->has(name) ? std::optional((*b)[name]) : std::nullopt});
    if (b != nullptr)
        for (const auto& [name, value] : b->list())
            if (a == nullptr || !a->has(name)) pairs.push_back({name, std::nullopt, value});
    return pairs;
}

std::string value_text(const std::optional<double>& value) {
    return value ? number_text(*value) : "-";
}

/// "+12.5 %", "3.20 x", "new".
std::string change_text(const MetricPair& pair) {
    if (!pair.a) return "only in b";
    if (!pair.b) return "only in a";
    if (*pair.a == *pair.b) return "";
    if (*pair.a == 0) return "from 0";
    const double ratio = *pair.b / *pair.a;
    constexpr double kMany = 3;
    if (ratio >= kMany) return fmt::format("{:.2f} x", ratio);
    return fmt::format("{:+.2f} %", 100 * (ratio - 1));
}

std::string title_of(const RunFile& run) {
    std::string text = fmt::format("{} on {}, {} mode", run.workload, run.machine, run.mode);
    for (const std::string& set : run.overrides) text += ", " + set;
    for (const std::string& option : run.options) text += ", " + option;
    return text;
}

std::string step_title(const StepPair& step) {
    if (step.a == nullptr) return step.name + " (only in b)";
    if (step.b == nullptr) return step.name + " (only in a)";
    return step.name;
}

std::string cycles_of(const Step* step) {
    return step == nullptr || step->cycles() == 0 ? "-" : number_text(step->cycles());
}

MetricPair cycles_pair(const StepPair& step) {
    MetricPair pair{"cycles", std::nullopt, std::nullopt};
    if (step.a != nullptr) pair.a = step.a->cycles();
    if (step.b != nullptr) pair.b = step.b->cycles();
    return pair;
}

}  // namespace

double MetricPair::distance() const {
    if (!a || !b) return INFINITY;
    if (*a == *b) return 0;
    if (*a == 0 || *b == 0 || (*a < 0) != (*b < 0)) return INFINITY;
    return std::abs(std::log(*b / *a));
}

std::vector<StepPair> pair_steps(const RunFile& a, const RunFile& b) {
    std::vector<StepPair> pairs;
    std::vector<bool> is_taken(b.steps.size(), false);
    for (const Step& step : a.steps) {
        StepPair pair{step.name, &step, nullptr, {}};
        for (std::size_t i = 0; i < b.steps.size() && pair.b == nullptr; ++i) {
            if (is_taken[i] || b.steps[i].name != step.name) continue;
            is_taken[i] = true;
            pair.b = &b.steps[i];
        }
        pairs.push_back(std::move(pair));
    }
    for (std::size_t i = 0; i < b.steps.size(); ++i)
        if (!is_taken[i]) pairs.push_back({b.steps[i].name, nullptr, &b.steps[i], {}});
    for (StepPair& pair : pairs)
        pair.metrics = pair_metrics(pair.a != nullptr ? &pair.a->metrics : nullptr,
                                    pair.b != nullptr ? &pair.b->metrics : nullptr);
    return pairs;
}

std::string diff_text(const RunFile& a, const RunFile& b, std::size_t most) {
    std::string text =
        fmt::format("a  {}\n   {}\nb  {}\n   {}\n\n", a.file, title_of(a), b.file, title_of(b));
    const auto line = [&](const MetricPair& pair) {
        text += fmt::format("  {:<66} {:>14} {:>14}  {}\n", pair.name, value_text(pair.a),
                            value_text(pair.b), change_text(pair));
    };
    text += fmt::format("  {:<66} {:>14} {:>14}\n", "", "a", "b");
    for (const MetricPair& pair : pair_metrics(&a.totals, &b.totals)) line(pair);
    for (const StepPair& step : pair_steps(a, b)) {
        std::vector<MetricPair> differing;
        for (const MetricPair& pair : step.metrics)
            if (pair.distance() > 0) differing.push_back(pair);
        text += fmt::format("\n{}\n", step_title(step));
        if (step.a == nullptr || step.b == nullptr) continue;
        const std::size_t all = differing.size();
        std::ranges::stable_sort(differing, std::greater<>(), &MetricPair::distance);
        if (most != 0 && all > most) differing.resize(most);
        for (const MetricPair& pair : differing) line(pair);
        if (all == 0)
            text += fmt::format("  all {} metrics are equal\n", step.metrics.size());
        else if (differing.size() < all)
            text += fmt::format("  and {} more that differ; --all shows them\n",
                                all - differing.size());
    }
    return text;
}

std::string diff_page(const RunFile& a, const RunFile& b) {
    constexpr std::string_view kStyle =
        ".more td:last-child{color:var(--train)}.less td:last-child{color:var(--test)}"
        "td:first-child{overflow-wrap:anywhere;min-width:14em}";
    const auto row = [](html::Table& table, const MetricPair& pair) {
        const bool differs = pair.a && pair.b && *pair.a != *pair.b;
        table.row({escape(pair.name), value_text(pair.a), value_text(pair.b), change_text(pair)},
                  !differs            ? ""
                  : *pair.b > *pair.a ? "more"
                                      : "less");
    };
    const std::vector<html::Column> columns = {
        {"metric"}, {"a", true}, {"b", true}, {"change", true}};
    std::string body = fmt::format(
        "<h1>Two runs</h1><p><b>a</b> {} <span class=\"dim\">{}</span></p><p><b>b</b> {} <span "
        "class=\"dim\">{}</span></p>",
        escape(title_of(a)), escape(a.file), escape(title_of(b)), escape(b.file));
    html::Table totals(columns);
    for (const MetricPair& pair : pair_metrics(&a.totals, &b.totals)) row(totals, pair);
    body += "<h2>Totals</h2>" + totals.text();
    const std::vector<StepPair> steps = pair_steps(a, b);
    if (steps.size() > 1) {
        html::Table table({{"step"}, {"a, cycles", true}, {"b, cycles", true}, {"change", true}});
        for (const StepPair& step : steps)
            table.row({escape(step_title(step)), cycles_of(step.a), cycles_of(step.b),
                       step.a && step.b ? change_text(cycles_pair(step)) : ""});
        body += "<h2>Steps</h2>" + table.text();
    }
    body += "<h2>Metrics by step</h2>";
    for (const StepPair& step : steps) {
        html::Table table(columns);
        std::size_t differing = 0;
        for (const MetricPair& pair : step.metrics) {
            row(table, pair);
            differing += pair.distance() > 0;
        }
        body += fmt::format(
            "<details{}><summary>{} <span class=\"dim\">{} of {} differ</span>"
            "</summary>{}</details>",
            steps.size() == 1 ? " open" : "", escape(step_title(step)), differing,
            step.metrics.size(), table.text());
    }
    return html::page(fmt::format("{} and {}", a.workload, b.workload), body, kStyle);
}

}  // namespace lockstep::report
