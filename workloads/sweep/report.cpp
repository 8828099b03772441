// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: the front in the plane of two objectives, what matters, all points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/html/page.h"
#include "sim/html/plot.h"
#include "workloads/sweep/table.h"

namespace lockstep::sweep {

namespace {

using html::escape;
using html::Mark;

constexpr std::string_view kStyle =
    ".front td{font-weight:600}.failed td{color:var(--dim)}.failed "
    "td:last-child{white-space:normal;"
    "min-width:16em}"
    ".dot{fill:var(--dim);opacity:.55}.best{fill:var(--test)}.step{stroke:var(--test);fill:none;"
    "stroke-width:1.5}.effect{fill:var(--test)}.interaction{fill:var(--test);opacity:.35}"
    ".facts{display:flex;flex-wrap:wrap;gap:.3em 2em;padding:0;list-style:none;margin:.6em 0}"
    ".facts b{display:block;font-size:1.3em;font-weight:600}";

/// The points of one workload with its parameters: what a front is of.
std::map<std::string, std::vector<std::size_t>> problems(const Table& table) {
    std::map<std::string, std::vector<std::size_t>> map;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        if (table.results[i].status == Status::kDone)
            map[workload_text(table.study, table.plan.points[i])].push_back(i);
    return map;
}

std::string title_of(const Table& table, std::size_t i) {
    std::string title = describe(table.study, table.plan.points[i]);
    for (std::size_t o = 0; o < table.study.objectives.size(); ++o)
        if (const auto& value = table.rows[i].objectives[o])
            title += fmt::format("\n{}: {}", table.study.objectives[o].name, number_text(*value));
    return title;
}

/// An axis over values: logarithmic where they span more than a decade.
html::Plot::Axis axis_of(const std::vector<double>& values) {
    html::Range range;
    for (const double value : values) range.include(value);
    const bool is_wide = range.least > 0 && range.most / range.least > 10;
    if (is_wide) return {range, html::Scale::kLogarithmic};
    constexpr double kMargin = 0.04;
    const double span = range.most - range.least;
    const double margin = kMargin * (span > 0 ? span : std::max(std::abs(range.most), 1.0));
    return {{range.least - margin, range.most + margin}, html::Scale::kLinear};
}

/// Two objectives of one workload against each other.
std::string front_plot(const Table& table, const std::vector<std::size_t>& members, std::size_t a,
                       std::size_t b) {
    const Study& study = table.study;
    std::vector<std::size_t> shown;
    std::vector<double> x, y;
    for (const std::size_t i : members) {
        const auto &px = table.rows[i].objectives[a], &py = table.rows[i].objectives[b];
        if (!px || !py) continue;
        shown.push_back(i);
        x.push_back(*px);
        y.push_back(*py);
    }
    if (shown.size() < 2) return "";
    html::Plot plot(axis_of(x), axis_of(y), 640, 420,
                    fmt::format("{} over {} of each point; the table has all values",
                                study.objectives[b].name, study.objectives[a].name));
    // The front of the two alone, as a staircase.
    std::vector<std::size_t> order(shown.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return std::pair(study.objectives[a].cost(x[i]), study.objectives[b].cost(y[i]));
    });
    std::optional<std::size_t> last;
    for (const std::size_t i : order) {
        if (last && study.objectives[b].cost(y[i]) >= study.objectives[b].cost(y[*last])) continue;
        if (last) {
            plot.line(x[*last], y[*last], x[i], y[*last], "step");
            plot.line(x[i], y[*last], x[i], y[i], "step");
        }
        last = i;
    }
    for (const bool is_best : {false, true})
        for (std::size_t i = 0; i < shown.size(); ++i)
            if (table.rows[shown[i]].is_on_front == is_best)
                plot.point(x[i], y[i], Mark::kCircle, is_best ? "best" : "dot",
                           title_of(table, shown[i]));
    const auto label = [&](std::size_t o) {
        return study.objectives[o].name +
               (study.objectives[o].is_maximised ? " (more is better)" : " (less is better)");
    };
    return plot.text(label(a), label(b));
}

/// With one objective: its values over each axis.
std::string axis_plot(const Table& table, const std::vector<std::size_t>& members,
                      std::size_t axis) {
    std::vector<double> x, y;
    std::vector<std::size_t> shown;
    for (const std::size_t i : members) {
        const auto& value = table.rows[i].objectives[0];
        if (!value) continue;
        shown.push_back(i);
        x.push_back(table.plan.points[i].values[axis].number);
        y.push_back(*value);
    }
    if (shown.size() < 2 || std::ranges::all_of(x, [&](double v) { return v == x[0]; })) return "";
    html::Plot plot(
        axis_of(x), axis_of(y), 520, 320,
        fmt::format("{} over {}", table.study.objectives[0].name, table.study.axes[axis].name));
    for (std::size_t i = 0; i < shown.size(); ++i)
        plot.point(x[i], y[i], Mark::kCircle, table.rows[shown[i]].is_on_front ? "best" : "dot",
                   title_of(table, shown[i]));
    const std::string& unit = table.study.axes[axis].unit;
    return plot.text(table.study.axes[axis].name + (unit == "1" ? "" : " (" + unit + ")"),
                     table.study.objectives[0].name);
}

std::string plots(const Table& table) {
    const std::size_t objectives = table.study.objectives.size();
    std::string text;
    constexpr std::size_t kMostProblems = 12;
    std::size_t shown = 0;
    for (const auto& [name, members] : problems(table)) {
        std::string pictures;
        for (std::size_t a = 0; a < objectives; ++a)
            for (std::size_t b = a + 1; b < objectives; ++b)
                pictures += front_plot(table, members, a, b);
        if (objectives == 1)
            for (std::size_t axis = 0; axis < table.study.axes.size(); ++axis)
                pictures += axis_plot(table, members, axis);
        if (pictures.empty() || ++shown > kMostProblems) continue;
        text += fmt::format("<h3>{}</h3>{}", escape(name), pictures);
    }
    if (text.empty()) return "";
    return fmt::format(
        "<h2>{}</h2><p class=\"dim\">Blue: no other point is better in all objectives. Point at a "
        "mark to see what it is.</p>{}",
        objectives == 1 ? "Over each parameter" : "Pareto front", text);
}

/// Bars of the first-order index, and behind them of the total one.
std::string index_bars(const Table& table, const Sensitivity& of) {
    constexpr double kName = 240, kEnd = 560, kLine = 24, kTop = 22;
    std::vector<std::size_t> order;
    for (std::size_t a = 0; a < table.study.axes.size(); ++a)
        if (of.indices[a].first) order.push_back(a);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t a) {
        return of.indices[a].total.value_or(*of.indices[a].first);
    });
    const auto x = [&](double share) {
        return kName + (kEnd - kName) * std::clamp(share, 0.0, 1.0);
    };
    std::string body;
    double at = kTop;
    for (const double share : {0.0, 0.5, 1.0})
        body += fmt::format(
            "<path class=\"grid\" d=\"M{0:.0f} {1}V{2:.0f}\"/><text x=\"{0:.0f}\" y=\"{3}\" "
            "text-anchor=\"middle\">{4:.0f} %</text>",
            x(share), kTop - 4, kTop + kLine * static_cast<double>(order.size()), kTop - 8,
            100 * share);
    for (const std::size_t a : order) {
        const Index& index = of.indices[a];
        const std::string total =
            index.total ? fmt::format(", in all {:.1f} %", 100 * *index.total) : "";
        body += fmt::format("<g><title>{}: alone {:.1f} %{}</title>",
                            escape(table.study.axes[a].name), 100 * *index.first, total);
        body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>",
                            kName - 8, at + 15, escape(table.study.axes[a].name));
        if (index.total)
            body += fmt::format(
                "<rect class=\"interaction\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.1f}\" "
                "height=\"16\"/>",
                kName, at + 3, x(*index.total) - kName);
        body += fmt::format(
            "<rect class=\"effect\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\"/>",
            kName, at + (index.total ? 7 : 3), x(*index.first) - kName, index.total ? 8 : 16);
        body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{:.1f} %</text></g>",
                            x(std::max(index.total.value_or(0), *index.first)) + 6, at + 15,
                            100 * index.total.value_or(*index.first));
        at += kLine;
    }
    if (order.empty()) return "";
    return html::picture(kEnd + 60, at + 6, 420, "shares of the variance; the table has them too",
                         body);
}

std::string sensitivity_section(const Table& table) {
    const Study& study = table.study;
    std::string text;
    for (const Sensitivity& of : table.sensitivities) {
        html::Table values({{"parameter"},
                            {"alone", true, "first-order Sobol index"},
                            {"in all", true, "total Sobol index"},
                            {"one at a time, least", true, "of the base"},
                            {"most", true, "of the base"}});
        bool has_any = false;
        for (std::size_t a = 0; a < study.axes.size(); ++a) {
            const auto percent = [](const std::optional<double>& share, double error) {
                if (!share) return std::string("–");
                return fmt::format("{:.1f} %", 100 * *share) +
                       (error > 0 ? fmt::format(" ± {:.1f}", 100 * error) : "");
            };
            const Index index = of.indices.empty() ? Index{} : of.indices[a];
            const auto& span = of.one_at_a_time[a];
            has_any |= index.first.has_value() || span.has_value();
            values.row({escape(study.axes[a].name), percent(index.first, index.first_error),
                        percent(index.total, index.total_error),
                        span ? fmt::format("{:.3f} ×", span->least) : "–",
                        span ? fmt::format("{:.3f} ×", span->most) : "–"});
        }
        if (!has_any) continue;
        text += fmt::format("<h3>{}: {} on {}</h3>", escape(study.objectives[of.objective].name),
                            escape(study.workloads[of.workload].text),
                            escape(study.machines[of.machine].name));
        if (!of.indices.empty()) text += index_bars(table, of);
        text += values.text();
    }
    if (text.empty()) return "";
    return "<h2>Which parameter matters</h2><p class=\"dim\">Dark: the share of the variance that "
           "a "
           "parameter explains alone. Light: with its interactions. Least and most: the result "
           "relative to the base while only this parameter changes.</p>" +
           text;
}

std::string point_table(const Table& table) {
    const Study& study = table.study;
    std::vector<html::Column> columns;
    const bool has_workloads = study.workloads.size() > 1, has_machines = study.machines.size() > 1;
    if (has_workloads) columns.push_back({"workload"});
    if (has_machines) columns.push_back({"machine"});
    for (const Axis& axis : study.axes) columns.push_back({axis.name, true});
    for (const Objective& objective : study.objectives)
        columns.push_back({objective.name, true, objective.formula.text()});
    columns.push_back({"state"});
    html::Table html(columns, "points");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const Point& point = table.plan.points[i];
        const Result& result = table.results[i];
        std::vector<std::string> cells;
        if (has_workloads) cells.push_back(escape(study.workloads[point.workload].text));
        if (has_machines) cells.push_back(escape(study.machines[point.machine].name));
        for (const Value& value : point.values) cells.push_back(escape(value.text));
        for (const auto& value : table.rows[i].objectives)
            cells.push_back(value ? number_text(*value) : "–");
        cells.push_back(table.rows[i].is_on_front ? "front"
                        : result.status == Status::kDone
                            ? ""
                            : escape(std::string(status_name(result.status)) +
                                     (result.reason.empty() ? "" : ": " + result.reason)));
        html.row(cells, table.rows[i].is_on_front        ? "front"
                        : result.status == Status::kDone ? ""
                                                         : "failed");
    }
    return "<h2>All points</h2><p class=\"dim\">A heading sorts, a second time the other way.</p>" +
           html.text();
}

std::string header(const Table& table) {
    const Study& study = table.study;
    std::string workloads, machines;
    for (const Workload& workload : study.workloads)
        workloads += (workloads.empty() ? "" : ", ") + workload.text;
    for (const SweptMachine& machine : study.machines)
        machines += (machines.empty() ? "" : ", ") + machine.name;
    const auto front =
        static_cast<std::size_t>(std::ranges::count(table.rows, true, &Row::is_on_front));
    std::string text = fmt::format("<h1>Sweep of {}</h1><p>On {}. {} mode, design {}, seed {}.</p>",
                                   escape(workloads), escape(machines),
                                   study.mode == run::Mode::kCycle ? "Cycle" : "Emulate",
                                   name_of(study.design), study.seed);
    text += fmt::format("<ul class=\"facts\"><li><b>{}</b>{}<li><b>{}</b>on the front",
                        table.rows.size(), table.rows.size() == 1 ? "point" : "points", front);
    if (const std::size_t failed = table.count(Status::kFailed))
        text += fmt::format("<li><b>{}</b>failed", failed);
    if (const std::size_t stopped = table.count(Status::kDominated))
        text += fmt::format("<li><b>{}</b>stopped as dominated", stopped);
    if (table.plan.excluded > 0)
        text += fmt::format("<li><b>{}</b>excluded by constraints", table.plan.excluded);
    text += fmt::format("<li><b>{}</b>{}</ul>", study.axes.size(),
                        study.axes.size() == 1 ? "parameter varied" : "parameters varied");
    for (const Expression& constraint : study.constraints)
        text += fmt::format("<p>Where {}.</p>", escape(constraint.text()));
    return text;
}

}  // namespace

std::string html_report(const Table& table) {
    const std::string name = table.study.workloads.front().text;
    return html::page(
        "Sweep of " + name,
        header(table) + plots(table) + sensitivity_section(table) + point_table(table), kStyle);
}

}  // namespace lockstep::sweep
