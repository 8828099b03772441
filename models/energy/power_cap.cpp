// SPDX-License-Identifier: Apache-2.0
#include "models/energy/power_cap.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "models/energy/account.h"
#include "sim/error/error.h"
#include "sim/stats/find.h"

namespace lockstep::energy {

namespace {

/// A step's time and energy, with and without a limit.
struct Capped {
    double seconds = 0, energy = 0, capped_seconds = 0, capped_energy = 0;
};

Capped capped(const stats::Metrics& step, double watts) {
    Capped result;
    result.energy = stats::number(step, "energy.total");
    const double power = stats::number(step, "energy.power");
    if (power <= 0) return result;
    result.seconds = result.capped_seconds = result.energy / power;
    result.capped_energy = result.energy;
    if (power <= watts) return result;
    const double still =
                     stats::number(step, "energy.constant") + stats::number(step, "energy.leakage"),
                 idle = still / result.seconds;
    if (idle >= watts)
        throw InputError(fmt::format(
            "--power-cap: {:.3g} W are less than the {:.3g} W that the machine takes at rest",
            watts, idle));
    result.capped_seconds = (result.energy - still) / (watts - idle);
    result.capped_energy = watts * result.capped_seconds;
    return result;
}

}  // namespace

double power_limit(const config::Machine& machine, const std::string& text) {
    if (text == "limit") {
        if (!machine.has("energy.power_limit"))
            throw InputError(fmt::format(
                "--power-cap limit: {} states no energy.power_limit; give watts", machine.name()));
        return machine.number("energy.power_limit");
    }
    double watts = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, watts);
    if (error != std::errc{} || at != end || !std::isfinite(watts) || watts <= 0)
        throw InputError(fmt::format(
            "--power-cap {}: wanted watts above 0, or limit (the machine's own)", text));
    return watts;
}

void cap_power(stats::Statistics& run, double watts) {
    Capped sum;
    double slowed = 0;
    for (stats::Step& step : run.steps()) {
        const Capped own = capped(step.metrics, watts);
        if (own.seconds <= 0) continue;
        step.metrics.emplace_back("power_cap.seconds", stats::Value(own.capped_seconds));
        step.metrics.emplace_back("power_cap.energy", stats::Value(own.capped_energy));
        sum.seconds += own.seconds;
        sum.capped_seconds += own.capped_seconds;
        sum.capped_energy += own.capped_energy;
        if (own.capped_seconds > own.seconds) slowed += own.seconds;
    }
    stats::Metrics& totals = run.totals();
    totals.emplace_back("power_cap.limit", stats::Value(watts));
    totals.emplace_back("power_cap.seconds", stats::Value(sum.capped_seconds));
    totals.emplace_back("power_cap.energy", stats::Value(sum.capped_energy));
    constexpr double kPercent = 100;
    totals.emplace_back("power_cap.slowed.pct",
                        stats::Value(sum.seconds > 0 ? kPercent * slowed / sum.seconds : 0.0));
}

std::string power_cap_report(const stats::Statistics& run) {
    const stats::Metrics& totals = run.totals();
    const double limit = stats::number(totals, "power_cap.limit"),
                 power = stats::number(totals, "energy.power");
    if (limit <= 0 || power <= 0) return "";
    const double before = stats::number(totals, "energy.total") / power,
                 after = stats::number(totals, "power_cap.seconds");
    constexpr double kMicro = 1e6;
    return fmt::format(
        "At most {:.4g} W: {:.4g} us for {:.4g} us ({:+.1f}%), {:.0f}% of the time is in steps "
        "that are slowed\n",
        limit, after * kMicro, before * kMicro, 100 * (after / before - 1),
        stats::number(totals, "power_cap.slowed.pct"));
}

}  // namespace lockstep::energy
