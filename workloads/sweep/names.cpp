// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/names.h"

#include <algorithm>
#include <charconv>

#include "sim/config/value.h"

namespace lockstep::sweep {

namespace {

constexpr std::string_view kTotals[] = {"cycles", "seconds", "joules", "mm2", "dollars"};

std::vector<std::string> parameter_names(const Study& study) {
    std::vector<std::string> names;
    for (const SweptMachine& machine : study.machines)
        for (const config::Parameter& parameter : machine.machine->parameters())
            names.push_back(parameter.path);
    for (const Axis& axis : study.axes)
        if (axis.is_of_workload()) names.push_back(axis.name);
    return names;
}

/// A workload's parameter may also stand in its own text: gemm:m=64.
bool is_workload_name(std::string_view name) {
    return name.starts_with(Axis::kWorkload);
}

bool is_number(const SweptMachine& machine, const std::string& name) {
    const config::Entry* found = nullptr;
    for (const config::Entry& entry : config::find_kind(machine.machine->kind())->entries)
        if (entry.path == name) found = &entry;
    return !found || found->type == config::Type::kInteger || found->type == config::Type::kNumber;
}

std::optional<double> number_of(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The value behind `key=` in "gemm:m=64,n=64".
std::optional<double> workload_value(std::string_view text, std::string_view key) {
    std::size_t at = text.rfind(':');
    while (at != std::string_view::npos && at < text.size()) {
        const std::string_view rest = text.substr(at + 1);
        if (rest.starts_with(key) && rest.substr(key.size()).starts_with('=')) {
            const std::string_view value = rest.substr(key.size() + 1);
            return number_of(value.substr(0, value.find(',')));
        }
        const std::size_t comma = rest.find(',');
        at = comma == std::string_view::npos ? comma : at + 1 + comma;
    }
    return std::nullopt;
}

std::optional<double> metric(const Result& result, std::string_view name) {
    const auto found = result.metrics.find(name);
    if (found == result.metrics.end()) return std::nullopt;
    return found->second;
}

}  // namespace

void check_parameter_name(const Study& study, const std::string& name, const config::Place& place) {
    if (is_workload_name(name)) return;
    const std::vector<std::string> names = parameter_names(study);
    if (std::ranges::find(names, name) == names.end())
        config::fail(
            place, fmt::format("unknown parameter {}{}", name, config::did_you_mean(name, names)));
    for (const SweptMachine& machine : study.machines)
        if (!is_number(machine, name)) config::fail(place, name + " is a text, not a number");
}

bool check_result_name(const Study& study, const std::string& name, const config::Place& place) {
    if (name == "dollars") {
        for (const SweptMachine& machine : study.machines)
            if (machine.dollars_per_hour == 0)
                config::fail(place,
                             fmt::format("dollars need a price: --price {0}=DOLLARS_PER_HOUR",
                                         machine.name));
        return false;
    }
    const std::vector<std::string> names = parameter_names(study);
    const bool is_parameter = std::ranges::find(names, name) != names.end();
    if (is_parameter) {
        check_parameter_name(study, name, place);
        return false;
    }
    // A metric has a dot or two underscores in it; what has neither is a word mistyped, or one of
    // the few that a machine counts by one word.
    std::vector<std::string> known = names;
    known.insert(known.end(), std::begin(kTotals), std::end(kTotals));
    if (std::ranges::find(kTotals, name) == std::end(kTotals) && name.find('.') == name.npos &&
        name.find("__") == name.npos) {
        const std::string near = config::did_you_mean(name, known);
        if (!near.empty()) config::fail(place, fmt::format("unknown name {}{}", name, near));
    }
    return name == "joules" || name == "mm2" || name.starts_with("energy.") ||
           name.starts_with("area.");
}

std::optional<double> parameter_value(const Study& study, const Point& point,
                                      std::string_view name) {
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (study.axes[i].name == name) return point.values[i].number;
    const SweptMachine& machine = study.machines[point.machine];
    if (is_workload_name(name))
        return workload_value(study.workloads[point.workload].text,
                              name.substr(Axis::kWorkload.size()));
    const config::Kind* kind = config::find_kind(machine.machine->kind());
    if (!config::has_entry(kind->entries, name)) return std::nullopt;
    const bool varies =
        std::ranges::any_of(study.axes, [](const Axis& axis) { return !axis.is_of_workload(); });
    if (!varies) return number_of(machine.machine->text(name));
    return number_of(config::Machine::load(machine.name, overrides_of(study, point))->text(name));
}

std::optional<double> result_value(const Study& study, const Point& point, const Result& result,
                                   std::string_view name) {
    if (result.status != Status::kDone) return std::nullopt;
    if (name == "cycles") {
        if (const auto counted = metric(result, name); result.cycles == 0 && counted)
            return counted;
        return static_cast<double>(result.cycles);
    }
    if (name == "seconds") return result.seconds;
    if (name == "joules") return metric(result, "energy.total");
    if (name == "mm2") return metric(result, "area.total");
    constexpr double kSecondsAnHour = 3600;
    if (name == "dollars")
        return result.seconds / kSecondsAnHour * study.machines[point.machine].dollars_per_hour;
    if (const auto found = metric(result, name)) return found;
    return parameter_value(study, point, name);
}

bool is_allowed(const Study& study, const Point& point) {
    try {
        return std::ranges::all_of(study.constraints, [&](const Expression& constraint) {
            const auto value = constraint.evaluate(
                [&](std::string_view name) { return parameter_value(study, point, name); });
            if (!value)
                config::fail(constraint.place(),
                             fmt::format("'{}' has no value for {}", constraint.text(),
                                         describe(study, point)));
            return *value != 0;
        });
    } catch (const InputError& error) {
        if (std::string_view(error.what()).starts_with("--set")) return true;
        throw;
    }
}

}  // namespace lockstep::sweep
