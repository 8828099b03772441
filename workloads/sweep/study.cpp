// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/study.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "sim/config/machine_text.h"
#include "sim/config/value.h"
#include "sim/stats/sha256.h"
#include "workloads/run/run_check.h"
#include "workloads/run/subject.h"
#include "workloads/sweep/dominance.h"
#include "workloads/sweep/names.h"

namespace lockstep::sweep {

namespace {

struct DesignName {
    std::string_view name;
    Design design;
    bool needs_samples;
};
constexpr DesignName kDesigns[] = {{"grid", Design::kGrid, false},
                                   {"one-at-a-time", Design::kOneAtATime, false},
                                   {"random", Design::kRandom, true},
                                   {"lhs", Design::kLatinHypercube, true},
                                   {"sobol", Design::kSobol, true}};

Design design_of(const StudyText& text) {
    if (text.design.text.empty()) return text.samples ? Design::kLatinHypercube : Design::kGrid;
    std::vector<std::string> names;
    for (const auto& [name, design, needs_samples] : kDesigns) {
        names.emplace_back(name);
        if (name != text.design.text) continue;
        if (needs_samples != (text.samples > 0))
            config::fail(text.design.place, fmt::format("design {} {}", name,
                                                        needs_samples ? "needs samples: how many"
                                                                      : "takes no samples"));
        return design;
    }
    config::fail(text.design.place,
                 fmt::format("unknown design '{}'{}; there are grid, one-at-a-time, random, lhs "
                             "and sobol",
                             text.design.text, config::did_you_mean(text.design.text, names)));
}

const config::Entry* entry_of(const Study& study, const AxisText& axis) {
    if (axis.name.starts_with(Axis::kWorkload)) return nullptr;
    const config::Entry* first = nullptr;
    for (const SweptMachine& swept : study.machines) {
        const config::Kind* kind = config::find_kind(swept.machine->kind());
        const config::Entry& entry = config::find_entry(kind->entries, axis.name, axis.place);
        if (first && (first->unit != entry.unit || first->type != entry.type))
            config::fail(axis.place, fmt::format("{}: in {} on one machine, in {} on another",
                                                 axis.name, first->unit, entry.unit));
        if (!first) first = &entry;
    }
    return first;
}

void add_axes(const StudyText& text, Study& study) {
    std::set<std::string> names;
    for (const AxisText& axis : text.axes) {
        if (!names.insert(axis.name).second)
            config::fail(axis.place, fmt::format("{} is varied twice", axis.name));
        for (const std::string& set : study.overrides)
            if (set.starts_with(axis.name + "="))
                config::fail(axis.place, fmt::format("{} is varied and set", axis.name));
        Axis made = parse_axis(axis.name, axis.items, entry_of(study, axis), axis.place);
        const bool takes_values =
            study.design == Design::kGrid || study.design == Design::kOneAtATime;
        if (made.is_interval() && takes_values)
            config::fail(axis.place,
                         fmt::format("{}: an interval needs samples (--samples N); a range of "
                                     "values has a step, as {}..step",
                                     axis.name, axis.items.front()));
        study.axes.push_back(std::move(made));
    }
    if (study.axes.empty() && study.design != Design::kGrid)
        throw InputError(fmt::format("design {}: nothing varies", name_of(study.design)));
}

/// What is wrong with something that a file's line names is said with that line.
template <typename Work>
auto at(const config::Place& place, const Work& work) {
    try {
        return work();
    } catch (const InputError& error) {
        if (place.line == 0) throw;
        config::fail(place, error.what());
    }
}

void add_machines(const StudyText& text, Study& study) {
    for (const Placed& given : text.machines) {
        const run::MachinePtr machine =
            at(given.place, [&] { return config::Machine::load(given.text, study.overrides); });
        for (const SweptMachine& other : study.machines)
            if (other.name == given.text)
                config::fail(given.place, fmt::format("{} stands twice", given.text));
        study.machines.push_back(
            {given.text, machine, stats::sha256(config::machine_text(given.text))});
    }
    if (study.machines.empty()) throw InputError("no machine (--on)");
    for (const Placed& price : text.prices) {
        const std::size_t equals = price.text.find('=');
        double dollars = 0;
        const char* const last = price.text.data() + price.text.size();
        const auto found =
            std::ranges::find(study.machines, price.text.substr(0, equals), &SweptMachine::name);
        const auto [end, error] = std::from_chars(
            price.text.data() + std::min(equals + 1, price.text.size()), last, dollars);
        if (equals == std::string::npos || error != std::errc{} || end != last || dollars <= 0)
            config::fail(price.place, fmt::format("'{}': wanted machine=dollars of an hour, as "
                                                  "h200=3.5",
                                                  price.text));
        if (found == study.machines.end())
            config::fail(price.place, fmt::format("no machine of this sweep is named {}",
                                                  price.text.substr(0, equals)));
        found->dollars_per_hour = dollars;
    }
}

/// What nothing can be run for is said before anything has run.
void add_workloads(const StudyText& text, Study& study) {
    for (const Placed& given : text.workloads) {
        for (const Workload& other : study.workloads)
            if (other.text == given.text)
                config::fail(given.place, fmt::format("{} stands twice", given.text));
        Workload workload{given.text, ""};
        const run::Subject subject = at(given.place, [&] { return run::identify(given.text); });
        if (!subject.file.empty())
            workload.contents_sha256 =
                stats::sha256(subject.bytes.empty() ? run::read_file(subject.file) : subject.bytes);
        study.workloads.push_back(workload);
        for (const SweptMachine& machine : study.machines) {
            run::Job job;
            job.what = given.text;
            job.machine = machine.name;
            job.overrides = study.overrides;
            job.arguments = study.arguments;
            job.mode = study.mode;
            job.no_values = study.no_values;
            if (!study.l2.empty()) job.given.push_back("--l2");
            if (study.no_values) job.given.push_back("--no-values");
            at(given.place, [&] { run::check(job); });
        }
    }
    if (study.workloads.empty()) throw InputError("nothing to run");
}

Objective objective_of(const Placed& given) {
    std::string_view text = given.text;
    const bool is_maximised = text.starts_with("max:");
    if (is_maximised || text.starts_with("min:")) text.remove_prefix(4);
    // name=formula; a formula has == but no single =.
    const std::size_t equals = text.find('=');
    const bool is_named = equals != std::string_view::npos && text.substr(equals, 2) != "==" &&
                          text.find_first_of("<>!") > equals;
    const std::string formula(is_named ? text.substr(equals + 1) : text);
    return {std::string(is_named ? text.substr(0, equals) : text), Expression(formula, given.place),
            is_maximised};
}

void add_formulas(const StudyText& text, Study& study) {
    for (const Placed& constraint : text.constraints) {
        Expression made(constraint.text, constraint.place);
        for (const std::string& name : made.names())
            check_parameter_name(study, name, made.place());
        study.constraints.push_back(std::move(made));
    }
    const bool has_time = study.mode == run::Mode::kCycle;
    std::vector<Placed> objectives = text.objectives;
    if (objectives.empty() && has_time) objectives.push_back({"cycles", {"--objective cycles", 0}});
    for (const Placed& given : objectives) {
        study.objectives.push_back(objective_of(given));
        const Objective& objective = study.objectives.back();
        for (std::size_t i = 0; i + 1 < study.objectives.size(); ++i)
            if (study.objectives[i].name == objective.name)
                config::fail(given.place, fmt::format("{} stands twice", objective.name));
        for (const std::string& name : objective.formula.names())
            study.counts_energy |= check_result_name(study, name, given.place);
    }
}

}  // namespace

std::string_view name_of(Design design) {
    return std::ranges::find(kDesigns, design, &DesignName::design)->name;
}

AxisText split_axis(const std::string& text, const config::Place& place) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        config::fail(place, "wanted path=value,value,... as sm.count=66,132");
    AxisText axis{text.substr(0, equals), {}, place};
    for (std::size_t at = equals + 1;;) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        axis.items.push_back(text.substr(at, comma - at));
        if (comma == text.size()) return axis;
        at = comma + 1;
    }
}

Study make_study(const StudyText& text) {
    Study study;
    for (const Placed& set : text.overrides) study.overrides.push_back(set.text);
    study.samples = text.samples;
    study.seed = text.seed;
    study.mode = text.mode;
    study.l2 = text.l2;
    study.no_values = text.no_values;
    study.arguments = text.arguments;
    study.limits = text.limits;
    study.stops_dominated = text.stops_dominated;
    study.design = design_of(text);
    add_machines(text, study);
    add_workloads(text, study);
    add_axes(text, study);
    add_formulas(text, study);
    if (study.stops_dominated) check_can_stop(study);
    if (study.design == Design::kSobol && study.stops_dominated)
        throw InputError("Sobol indices need every point: none can be stopped");
    if (study.design == Design::kSobol && !study.constraints.empty())
        config::fail(study.constraints.front().place(),
                     "Sobol indices need the whole space: no constraints");
    return study;
}

}  // namespace lockstep::sweep
