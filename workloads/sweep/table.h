// SPDX-License-Identifier: Apache-2.0
// The results of a sweep: what is wanted of each point, which points are on the front, which
// parameter matters; as text, CSV and JSON. Nothing here depends on how the points were run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/sweep/point.h"
#include "workloads/sweep/result.h"
#include "workloads/sweep/sensitivity.h"

namespace lockstep::sweep {

struct Row {
    std::vector<std::optional<double>> objectives;  ///< in the study's order
    bool is_on_front = false;                       ///< among the points of its workload
};

/// How much an objective changes with each axis, of one workload on one machine.
struct Sensitivity {
    std::size_t workload = 0, machine = 0, objective = 0;
    std::string_view method;
    std::vector<Index> indices;  ///< of each axis; those without a first-order index are not known
    /// With all others at their base: the least and the most of the objective over the axis'
    /// values, relative to the base; empty where the base was not run.
    struct Span {
        double least = 0, most = 0;
    };
    std::vector<std::optional<Span>> one_at_a_time;
};

struct Table {
    const Study& study;
    const Plan& plan;
    std::vector<Result> results;
    std::vector<Row> rows;
    std::vector<Sensitivity> sensitivities;

    std::size_t count(Status status) const;
};

Table make_table(const Study& study, const Plan& plan, std::vector<Result> results);

/// For a terminal: all points, or where there are many those of the front.
std::string text(const Table& table);
std::string csv(const Table& table);
std::string json(const Table& table);
/// A page that needs nothing else.
std::string html_report(const Table& table);

std::string_view status_name(Status status);
/// A number with as many digits as say something.
std::string number_text(double value);

}  // namespace lockstep::sweep
