// SPDX-License-Identifier: Apache-2.0
// One run of a sweep: a workload on a machine with a value of each axis.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workloads/run/job.h"
#include "workloads/sweep/study.h"

namespace lockstep::sweep {

struct Point {
    std::size_t workload = 0, machine = 0;  ///< indices into the study's
    std::vector<Value> values;              ///< of each axis
    std::string key;  ///< the same only where the results are: a hash of all they depend on
};

/// With the values of its axes: "gemm:m=64,n=64" where workload.n is varied.
std::string workload_text(const Study& study, const Point& point);
/// path=value of all that is set over the machine.
std::vector<std::string> overrides_of(const Study& study, const Point& point);
/// A hash of all that the results depend on, this program among it.
std::string key_of(const Study& study, const Point& point);
run::Job job_of(const Study& study, const Point& point);
/// As "gemm:m=64 on h200, sm.count=66".
std::string describe(const Study& study, const Point& point);

/// The value that an axis has where only others are varied: the machine's own; of a workload's
/// parameter the first.
Value base_value(const Study& study, const Point& point, const Axis& axis);

/// The points of a study.
struct Plan {
    std::vector<Point> points;  ///< each once, in the order of the results
    /// Of a design for Sobol indices: for each workload and machine, and in it for each row of the
    /// design (A, B, then A with the column of B for each axis; `samples` each), the point.
    std::vector<std::vector<std::size_t>> sobol;
    std::size_t excluded = 0;  ///< points that a constraint does not allow
};

/// Throws InputError where there is no point, or more than 10 million.
Plan make_plan(const Study& study);

}  // namespace lockstep::sweep
