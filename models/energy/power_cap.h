// SPDX-License-Identifier: Apache-2.0
// What a power limit does to a run: a board that would take more lowers its clock until it does
// not.
#pragma once

#include "sim/config/machine.h"
#include "sim/stats/statistics.h"

namespace lockstep::energy {

/// W of a limit: a number above zero, or "limit": the machine's energy.power_limit. Throws
/// InputError for other texts, and where the machine states no limit.
double power_limit(const config::Machine& machine, const std::string& text);

/// To the steps that Account::add_to priced, and to the totals, adds
/// - power_cap.seconds: the time at the limit, each step as if it went on for long enough that the
///   board reacts: P = min(limit, P_constant + sum of energies per second) (Antepara et al.,
///   SC'25, equation 1). Energies of events stay what they are, for the voltage is left as it
///   was: a real board saves some by lowering it, so that this is the longest that it can take;
/// - power_cap.energy, J: with constant power and leakage for that time;
/// and to the totals power_cap.limit (W) and power_cap.slowed.pct, the share of the run's time in
/// steps that the limit slowed down. cycles and other metrics are those of the full clock. Throws
/// InputError where the limit is not above what the machine takes without doing anything.
void cap_power(stats::Statistics& run, double watts);

/// A line of it; empty where nothing was capped.
std::string power_cap_report(const stats::Statistics& run);

}  // namespace lockstep::energy
