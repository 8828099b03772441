// SPDX-License-Identifier: Apache-2.0
#include "models/energy/account.h"

#include <fmt/format.h>

#include "sim/error/error.h"

namespace lockstep::energy {

namespace {

constexpr double kJoulePerPicojoule = 1e-12;
/// Of random values, for which prices are given, half the bits toggle.
constexpr double kRandomToggles = 50;
constexpr std::string_view kPrefix = "energy.";

double price_of(const config::Machine& machine, const std::string& path) {
    if (machine.has(path)) return machine.number(path);
    throw InputError(fmt::format(
        "{} has no {}: its energy is not known (a machine file names a sheet of prices as "
        "'prices: gpu_7nm', or gives each)",
        machine.name(), path));
}

/// Energies of several events of one component are one metric, in the order of the table.
class Sums {
  public:
    void add(std::string_view component, double joules) {
        for (auto& [name, sum] : sums_)
            if (name == component) {
                sum += joules;
                return;
            }
        sums_.emplace_back(component, joules);
    }
    void append_to(stats::Metrics& metrics) const {
        for (const auto& [name, sum] : sums_)
            metrics.emplace_back(std::string(kPrefix) + name, stats::Value(sum));
    }
    double total() const {
        double total = 0;
        for (const auto& [name, sum] : sums_) total += sum;
        return total;
    }

  private:
    std::vector<std::pair<std::string, double>> sums_;
};

}  // namespace

std::string_view component_of(std::string_view metric) {
    if (!metric.starts_with(kPrefix)) return {};
    metric.remove_prefix(kPrefix.size());
    const bool is_of_all = metric == "total" || metric == "power" || metric == "uncertainty";
    return is_of_all ? std::string_view() : metric;
}

Account::Account(std::shared_ptr<const config::Machine> machine)
    : machine_(std::move(machine)), tables_(tables_of(machine_->kind())) {
    if (tables_.events.empty())
        throw InputError(fmt::format("--energy: nothing is known of the energy of a {} ({})",
                                     machine_->kind(), machine_->name()));
    constant_ = price_of(*machine_, "energy.constant_power");
    uncertainty_ = price_of(*machine_, "energy.uncertainty");
    for (const Event& event : tables_.events)
        prices_.push_back({price_of(*machine_, fmt::format("energy.{}.control", event.name)),
                           price_of(*machine_, fmt::format("energy.{}.data", event.name))});
    const stats::Metrics parts = area();
    if (!parts.empty() && machine_->has("energy.leakage"))
        leakage_ = parts.back().second.as_double() * machine_->number("energy.leakage");
}

void Account::add_to(stats::Statistics& run) const {
    for (stats::Step& step : run.steps()) add_to(step.metrics);
    add_totals(run);
    for (auto& part : area()) run.totals().push_back(std::move(part));
}

void Account::add_to(stats::Metrics& step) const {
    const Counts counts(step, *machine_);
    const double seconds = tables_.seconds(counts);
    if (seconds <= 0) return;
    Sums sums;
    for (std::size_t i = 0; i < prices_.size(); ++i) {
        const Event& event = tables_.events[i];
        const bool is_counted = !event.toggles.empty() && counts.has(event.toggles);
        const double toggles = is_counted ? counts[event.toggles] / kRandomToggles : 1;
        const double price = prices_[i].control + prices_[i].data * toggles;
        sums.add(event.component, event.count(counts) * price * kJoulePerPicojoule);
    }
    sums.add("constant", constant_ * seconds);
    if (leakage_ > 0) sums.add("leakage", leakage_ * seconds);
    sums.append_to(step);
    step.emplace_back("energy.total", stats::Value(sums.total()));
    step.emplace_back("energy.power", stats::Value(sums.total() / seconds));
}

void Account::add_totals(stats::Statistics& run) const {
    Sums sums;
    double seconds = 0;
    for (const stats::Step& step : run.steps()) {
        const Counts counts(step.metrics, *machine_);
        if (!counts.has("energy.total")) continue;
        for (const auto& [name, value] : step.metrics)
            if (const std::string_view component = component_of(name); !component.empty())
                sums.add(component, value.as_double());
        seconds += tables_.seconds(counts);
    }
    stats::Metrics& totals = run.totals();
    sums.append_to(totals);
    totals.emplace_back("energy.total", stats::Value(sums.total()));
    totals.emplace_back("energy.power", stats::Value(seconds > 0 ? sums.total() / seconds : 0.0));
    totals.emplace_back("energy.uncertainty", stats::Value(uncertainty_));
}

stats::Metrics Account::area() const {
    stats::Metrics parts;
    double total = 0;
    for (const Part& part : tables_.parts) {
        const std::string path = fmt::format("area.{}", part.name);
        if (!machine_->has(path)) continue;
        const double square_millimetres = part.count(*machine_) * machine_->number(path);
        parts.emplace_back(path, stats::Value(square_millimetres));
        total += square_millimetres;
    }
    if (total > 0) parts.emplace_back("area.total", stats::Value(total));
    return parts;
}

}  // namespace lockstep::energy
