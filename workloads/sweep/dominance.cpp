// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/dominance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/config/value.h"
#include "workloads/sweep/names.h"
#include "workloads/sweep/pareto.h"

namespace lockstep::sweep {

namespace {

constexpr std::string_view kTimes[] = {"cycles", "seconds", "dollars"};

bool is_time(const Objective& objective) {
    return std::ranges::find(kTimes, objective.formula.text()) != std::end(kTimes);
}

bool is_of_parameters(const Study& study, const Objective& objective) {
    return std::ranges::all_of(objective.formula.names(), [&](const std::string& name) {
        if (name.starts_with(Axis::kWorkload)) return true;
        return std::ranges::all_of(study.machines, [&](const SweptMachine& machine) {
            return config::has_entry(config::find_kind(machine.machine->kind())->entries, name);
        });
    });
}

}  // namespace

void check_can_stop(const Study& study) {
    for (const Objective& objective : study.objectives)
        if ((!is_time(objective) || objective.is_maximised) && !is_of_parameters(study, objective))
            config::fail(objective.formula.place(),
                         fmt::format("{}: points can be stopped where objectives are cycles, "
                                     "seconds or dollars, or formulas of parameters",
                                     objective.name));
}

Dominance::Dominance(const Study& study, const Plan& plan) : study_(study), plan_(plan) {
    std::map<std::string, std::size_t> problems;
    for (const Point& point : plan.points)
        problem_.push_back(
            problems.emplace(workload_text(study, point), problems.size()).first->second);
    ended_.resize(problems.size());
}

/// What cannot be told yet is taken as the least there can be.
std::vector<double> Dominance::costs(std::size_t place, const Result& result) const {
    std::vector<double> costs;
    for (const Objective& objective : study_.objectives) {
        const auto value = objective.formula.evaluate([&](std::string_view name) {
            return result_value(study_, plan_.points[place], result, name);
        });
        costs.push_back(value ? objective.cost(*value) : -INFINITY);
    }
    return costs;
}

void Dominance::add(std::size_t place, const Result& result) {
    if (result.status != Status::kDone) return;
    std::vector<double> known = costs(place, result);
    if (std::ranges::all_of(known, [](double cost) { return std::isfinite(cost); }))
        ended_[problem_[place]].push_back({place, std::move(known)});
}

std::vector<double> Dominance::least_costs(std::size_t place, std::uint64_t cycles) const {
    Result least;
    least.status = Status::kDone;
    auto found = begun_.find(place);
    if (found == begun_.end()) {
        const auto clock = parameter_value(study_, plan_.points[place], "clock.sm");
        found = begun_.emplace(place, Begun{clock.value_or(0), costs(place, least)}).first;
    }
    const auto& [clock, fixed] = found->second;
    least.cycles = cycles;
    // A GPU's seconds are its cycles at this clock; rounding must not make them more.
    constexpr double kRounding = 1 - 1e-9;
    if (clock > 0) least.seconds = static_cast<double>(cycles) / (clock * 1e6) * kRounding;
    std::vector<double> list = fixed;
    for (std::size_t o = 0; o < list.size(); ++o)
        if (is_time(study_.objectives[o]))
            list[o] = result_value(study_, plan_.points[place], least,
                                   study_.objectives[o].formula.text())
                          .value_or(-INFINITY);
    return list;
}

bool Dominance::is_dominated(std::size_t place, const std::vector<double>& costs) const {
    return std::ranges::any_of(ended_[problem_[place]], [&](const Ended& other) {
        return other.place < place && dominates(other.costs, costs);
    });
}

bool Dominance::is_dominated(std::size_t place, const Result& result) const {
    return is_dominated(place, costs(place, result));
}

bool Dominance::is_dominated(std::size_t place, std::uint64_t cycles) const {
    return is_dominated(place, least_costs(place, cycles));
}

void mark_dominated(const Study& study, const Plan& plan, std::vector<Result>& results) {
    Dominance ended(study, plan);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].status != Status::kDone) continue;
        if (ended.is_dominated(i, results[i])) {
            results[i] = {};
            results[i].status = Status::kDominated;
        } else {
            ended.add(i, results[i]);
        }
    }
}

}  // namespace lockstep::sweep
