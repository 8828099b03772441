// SPDX-License-Identifier: Apache-2.0
// The names that formulas may use, and their values.
//   of constraints: the machine's parameters by path (canonical unit), workload.KEY
//   of objectives: those too, cycles, seconds, joules, mm2, dollars, and metrics of the statistics
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workloads/sweep/point.h"
#include "workloads/sweep/result.h"
#include "workloads/sweep/study.h"

namespace lockstep::sweep {

/// Throws InputError with the place and the nearest name where no machine of the study, and no
/// workload, has such a parameter.
void check_parameter_name(const Study& study, const std::string& name, const config::Place& place);
/// The same of objectives. What may be a metric is checked when a point has run. Returns whether
/// runs have it only where they count energy and area.
bool check_result_name(const Study& study, const std::string& name, const config::Place& place);

/// Of constraints. A parameter that follows one that is varied is read off the point's machine.
/// Throws InputError where the machine cannot be.
std::optional<double> parameter_value(const Study& study, const Point& point,
                                      std::string_view name);
/// Of objectives.
std::optional<double> result_value(const Study& study, const Point& point, const Result& result,
                                   std::string_view name);

/// Whether all constraints hold of the point. One whose machine cannot be is let through: its run
/// says why.
bool is_allowed(const Study& study, const Point& point);

}  // namespace lockstep::sweep
