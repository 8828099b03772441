// SPDX-License-Identifier: Apache-2.0
// The table that a run with --energy shows. Everything is read back from totals and metrics by
// name.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "models/energy/account.h"
#include "sim/stats/find.h"

namespace lockstep::energy {

namespace {

constexpr std::size_t kSteps = 8, kNameWidth = 48;

std::string joules(double energy) {
    constexpr const char* kUnits[] = {"J", "mJ", "uJ", "nJ", "pJ"};
    const char* const* unit = kUnits;
    while (energy != 0 && energy < 1 && unit + 1 != std::end(kUnits)) {
        energy *= 1e3;
        ++unit;
    }
    return fmt::format("{:.4g} {}", energy, *unit);
}

std::string shortened(const std::string& name) {
    return name.size() <= kNameWidth ? name : name.substr(0, kNameWidth - 3) + "...";
}

void add_components(std::string& text, const stats::Metrics& totals, double total) {
    std::vector<std::pair<std::string, double>> rows;
    for (const auto& [name, value] : totals)
        if (const std::string_view component = component_of(name); !component.empty())
            rows.emplace_back(component, value.as_double());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [name, energy] : rows)
        text += fmt::format("  {:<{}} {:>12} {:>6.1f}%\n", name, kNameWidth, joules(energy),
                            100 * energy / total);
}

void add_steps(std::string& text, const stats::Statistics& run, double total) {
    std::vector<const stats::Step*> steps;
    for (const stats::Step& step : run.steps()) steps.push_back(&step);
    if (steps.size() < 2) return;
    std::stable_sort(steps.begin(), steps.end(), [](const stats::Step* a, const stats::Step* b) {
        return stats::number(a->metrics, "energy.total") >
               stats::number(b->metrics, "energy.total");
    });
    text += "  by step\n";
    for (const stats::Step* step : steps | std::views::take(kSteps)) {
        const double energy = stats::number(step->metrics, "energy.total");
        text += fmt::format("  {:<{}} {:>12} {:>6.1f}%  {:.1f} W\n", shortened(step->name),
                            kNameWidth, joules(energy), 100 * energy / total,
                            stats::number(step->metrics, "energy.power"));
    }
    if (steps.size() > kSteps) text += fmt::format("  and {} more\n", steps.size() - kSteps);
}

}  // namespace

std::string report(const stats::Statistics& run) {
    const stats::Metrics& totals = run.totals();
    const double total = stats::number(totals, "energy.total");
    if (total <= 0) return "";
    std::string text = fmt::format("\nEnergy {} +- {:.0f}%, {:.1f} W on average\n", joules(total),
                                   100 * stats::number(totals, "energy.uncertainty"),
                                   stats::number(totals, "energy.power"));
    add_components(text, totals, total);
    add_steps(text, run, total);
    if (const double area = stats::number(totals, "area.total"); area > 0)
        text += fmt::format("Area {:.0f} mm2\n", area);
    return text;
}

}  // namespace lockstep::energy
