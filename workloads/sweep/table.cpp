// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "workloads/sweep/names.h"
#include "workloads/sweep/pareto.h"

namespace lockstep::sweep {

namespace {

/// Where several points are equal in all that is wanted, another point that came earlier may
/// dominate: fronts are of one problem, a workload with its parameters.
void mark_fronts(Table& table) {
    std::map<std::string, std::vector<std::size_t>> problems;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const auto& values = table.rows[i].objectives;
        if (values.empty() || !std::ranges::all_of(values, [](const auto& v) { return bool(v); }))
            continue;
        problems[workload_text(table.study, table.plan.points[i])].push_back(i);
    }
    for (const auto& [name, members] : problems) {
        std::vector<std::vector<double>> costs;
        for (const std::size_t i : members) {
            std::vector<double>& cost = costs.emplace_back();
            for (std::size_t o = 0; o < table.study.objectives.size(); ++o)
                cost.push_back(table.study.objectives[o].cost(*table.rows[i].objectives[o]));
        }
        const std::vector<bool> front = pareto_front(costs);
        for (std::size_t m = 0; m < members.size(); ++m)
            table.rows[members[m]].is_on_front = front[m];
    }
}

/// Points of one workload on one machine that have the objective.
std::vector<Observation> observations(const Table& table, const Sensitivity& of) {
    std::vector<Observation> list;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const Point& point = table.plan.points[i];
        const auto& value = table.rows[i].objectives[of.objective];
        if (point.workload != of.workload || point.machine != of.machine || !value) continue;
        Observation& observation = list.emplace_back();
        observation.value = *value;
        for (const Value& at : point.values) observation.at.push_back(at.number);
    }
    return list;
}

void add_one_at_a_time(const Table& table, std::span<const Observation> all, Sensitivity& into) {
    const Study& study = table.study;
    Point any;
    any.machine = into.machine;
    std::vector<double> base;
    // A grid need not hold the machine's own value: its first stands for the base then.
    for (std::size_t a = 0; a < study.axes.size(); ++a) {
        const Axis& axis = study.axes[a];
        if (axis.is_interval()) return;
        double value = base_value(study, any, axis).number;
        const bool is_there =
            std::ranges::any_of(all, [&](const Observation& o) { return o.at[a] == value; });
        base.push_back(is_there ? value : axis.values.front().number);
    }
    const auto at_base = std::ranges::find(all, base, &Observation::at);
    if (at_base == all.end() || at_base->value == 0) return;
    for (std::size_t axis = 0; axis < base.size(); ++axis) {
        Sensitivity::Span span{1, 1};
        bool moves = false;
        for (const Observation& o : all) {
            bool differs_here_alone = o.at[axis] != base[axis];
            for (std::size_t other = 0; other < base.size(); ++other)
                differs_here_alone &= other == axis || o.at[other] == base[other];
            if (!differs_here_alone) continue;
            moves = true;
            span.least = std::min(span.least, o.value / at_base->value);
            span.most = std::max(span.most, o.value / at_base->value);
        }
        if (moves) into.one_at_a_time[axis] = span;
    }
}

void add_indices(const Table& table, std::span<const Observation> all, Sensitivity& into) {
    const Study& study = table.study;
    const std::size_t axes = study.axes.size();
    if (study.design == Design::kGrid) {
        into.method = "grid";
        into.indices = grid_indices(all, axes);
    } else if (study.design == Design::kSobol) {
        into.method = "Saltelli and Jansen";
        const auto& rows = table.plan.sobol[into.workload * study.machines.size() + into.machine];
        std::vector<double> values;
        for (const std::size_t row : rows)
            if (const auto& value = table.rows[row].objectives[into.objective])
                values.push_back(*value);
        into.indices.resize(axes);
        if (values.size() == rows.size())  // a failed point leaves the design without its sense
            into.indices = sobol_indices(values, study.samples, axes);
    } else if (study.design != Design::kOneAtATime) {
        into.method = "classes of samples";
        into.indices = sample_indices(all, axes);
    }
}

void add_sensitivities(Table& table) {
    const Study& study = table.study;
    for (std::size_t w = 0; w < study.workloads.size(); ++w)
        for (std::size_t m = 0; m < study.machines.size(); ++m)
            for (std::size_t o = 0; o < study.objectives.size(); ++o) {
                Sensitivity made{.workload = w, .machine = m, .objective = o};
                made.one_at_a_time.resize(study.axes.size());
                const std::vector<Observation> all = observations(table, made);
                if (all.size() < 2 || study.axes.empty()) continue;
                add_indices(table, all, made);
                add_one_at_a_time(table, all, made);
                table.sensitivities.push_back(std::move(made));
            }
}

/// Columns of a point: what it is.
std::vector<std::string> heads(const Study& study) {
    std::vector<std::string> names;
    const bool has_workloads = study.workloads.size() > 1;
    if (has_workloads) names.push_back("workload");
    if (study.machines.size() > 1) names.push_back("machine");
    for (const Axis& axis : study.axes) names.push_back(axis.name);
    return names;
}

std::vector<std::string> cells(const Study& study, const Point& point) {
    std::vector<std::string> texts;
    if (study.workloads.size() > 1) texts.push_back(study.workloads[point.workload].text);
    if (study.machines.size() > 1) texts.push_back(study.machines[point.machine].name);
    for (const Value& value : point.values) texts.push_back(value.text);
    return texts;
}

bool has_objective(const Study& study, std::string_view name) {
    return std::ranges::find(study.objectives, name, &Objective::name) != study.objectives.end();
}

std::string csv_cell(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string exact(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string_view status_name(Status status) {
    switch (status) {
        case Status::kDone:
            return "done";
        case Status::kFailed:
            return "failed";
        case Status::kDominated:
            return "dominated";
        case Status::kMissing:
            return "missing";
    }
    return "";
}

std::string number_text(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
    return fmt::format("{:.5g}", value);
}

std::size_t Table::count(Status status) const {
    return static_cast<std::size_t>(std::ranges::count(results, status, &Result::status));
}

Table make_table(const Study& study, const Plan& plan, std::vector<Result> results) {
    Table table{study, plan, std::move(results), {}, {}};
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        Row& row = table.rows.emplace_back();
        for (const Objective& objective : study.objectives)
            row.objectives.push_back(objective.formula.evaluate([&](std::string_view name) {
                return result_value(study, plan.points[i], table.results[i], name);
            }));
    }
    mark_fronts(table);
    add_sensitivities(table);
    return table;
}

std::string text(const Table& table) {
    constexpr std::size_t kMostRows = 40;
    const bool is_whole = table.rows.size() <= kMostRows;
    std::vector<std::vector<std::string>> lines(1, heads(table.study));
    const std::size_t left = lines[0].size();
    for (const Objective& objective : table.study.objectives) lines[0].push_back(objective.name);
    lines[0].push_back("");
    std::size_t shown = 0;
    for (std::size_t i = 0; i < table.rows.size() && shown < kMostRows; ++i) {
        if (!is_whole && !table.rows[i].is_on_front) continue;
        ++shown;
        auto& line = lines.emplace_back(cells(table.study, table.plan.points[i]));
        for (const auto& value : table.rows[i].objectives)
            line.push_back(value ? number_text(*value) : "-");
        const Result& result = table.results[i];
        line.push_back(table.rows[i].is_on_front          ? "front"
                       : result.status == Status::kFailed ? "failed: " + result.reason
                       : result.status == Status::kDone   ? ""
                                                        : std::string(status_name(result.status)));
    }
    std::vector<std::size_t> widths(lines[0].size(), 0);
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    std::string out;
    for (const auto& line : lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i)
            row += i < left || i + 1 == line.size() ? fmt::format("{:<{}}  ", line[i], widths[i])
                                                    : fmt::format("{:>{}}  ", line[i], widths[i]);
        row.erase(row.find_last_not_of(' ') + 1);
        out += row + "\n";
    }
    if (!is_whole) {
        const auto front = std::ranges::count(table.rows, true, &Row::is_on_front);
        out += fmt::format(
            "{} of {} points, on the Pareto front{}; --out FILE has all\n", shown,
            table.rows.size(),
            static_cast<std::size_t>(front) > shown ? fmt::format(" ({} points)", front) : "");
    }
    return out;
}

std::string csv(const Table& table) {
    std::string out = "workload,machine";
    for (const Axis& axis : table.study.axes) out += "," + csv_cell(axis.name);
    for (const Objective& objective : table.study.objectives) out += "," + csv_cell(objective.name);
    const bool has_cycles = has_objective(table.study, "cycles"),
               has_seconds = has_objective(table.study, "seconds");
    out += fmt::format(",pareto,status,reason{}{}\n", has_cycles ? "" : ",cycles",
                       has_seconds ? "" : ",seconds");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const Point& point = table.plan.points[i];
        const Result& result = table.results[i];
        out += csv_cell(workload_text(table.study, point)) + "," +
               csv_cell(table.study.machines[point.machine].name);
        for (const Value& value : point.values) out += "," + csv_cell(value.text);
        for (const auto& value : table.rows[i].objectives) out += "," + exact(value);
        const bool is_done = result.status == Status::kDone;
        out += fmt::format(",{},{},{}", int{table.rows[i].is_on_front}, status_name(result.status),
                           csv_cell(result.reason));
        if (!has_cycles) out += is_done ? fmt::format(",{}", result.cycles) : ",";
        if (!has_seconds) out += is_done ? fmt::format(",{}", result.seconds) : ",";
        out += "\n";
    }
    return out;
}

std::string json(const Table& table) {
    using Json = nlohmann::ordered_json;
    const Study& study = table.study;
    Json points = Json::array();
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const Point& point = table.plan.points[i];
        const Result& result = table.results[i];
        Json entry = {{"workload", workload_text(study, point)},
                      {"machine", study.machines[point.machine].name},
                      {"vary", Json::object()},
                      {"status", status_name(result.status)}};
        for (std::size_t a = 0; a < study.axes.size(); ++a)
            entry["vary"][study.axes[a].name] = point.values[a].text;
        if (!result.reason.empty()) entry["reason"] = result.reason;
        if (result.status == Status::kDone) {
            entry["cycles"] = result.cycles;
            entry["seconds"] = result.seconds;
            entry["pareto"] = table.rows[i].is_on_front;
            Json& objectives = entry["objectives"] = Json::object();
            for (std::size_t o = 0; o < study.objectives.size(); ++o)
                if (const auto& value = table.rows[i].objectives[o])
                    objectives[study.objectives[o].name] = *value;
            entry["metrics"] = result.metrics;
        }
        points.push_back(std::move(entry));
    }
    Json sensitivities = Json::array();
    for (const Sensitivity& sensitivity : table.sensitivities) {
        Json axes = Json::object();
        for (std::size_t a = 0; a < study.axes.size(); ++a) {
            Json entry = Json::object();
            if (!sensitivity.indices.empty() && sensitivity.indices[a].first) {
                const Index& index = sensitivity.indices[a];
                entry["first_order"] = *index.first;
                if (index.total) entry["total"] = *index.total;
                if (index.first_error > 0) entry["first_order_error"] = index.first_error;
                if (index.total_error > 0) entry["total_error"] = index.total_error;
            }
            if (const auto& span = sensitivity.one_at_a_time[a])
                entry["one_at_a_time"] = {span->least, span->most};
            axes[study.axes[a].name] = std::move(entry);
        }
        sensitivities.push_back({{"workload", study.workloads[sensitivity.workload].text},
                                 {"machine", study.machines[sensitivity.machine].name},
                                 {"objective", study.objectives[sensitivity.objective].name},
                                 {"method", sensitivity.method},
                                 {"axes", std::move(axes)}});
    }
    Json objectives = Json::array();
    for (const Objective& objective : study.objectives)
        objectives.push_back({{"name", objective.name},
                              {"formula", objective.formula.text()},
                              {"goal", objective.is_maximised ? "max" : "min"}});
    const Json root = {{"schema", 1},
                       {"design", name_of(study.design)},
                       {"mode", run::name_of(study.mode)},
                       {"seed", study.seed},
                       {"objectives", std::move(objectives)},
                       {"points", std::move(points)},
                       {"sensitivity", std::move(sensitivities)}};
    return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::sweep
