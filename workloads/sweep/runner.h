// SPDX-License-Identifier: Apache-2.0
// Runs the points of a plan that have no result yet, each in a process of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "workloads/sweep/point.h"
#include "workloads/sweep/result.h"
#include "workloads/sweep/store.h"

namespace lockstep::sweep {

struct Progress {
    std::size_t points = 0, done = 0, failed = 0, running = 0;
    double seconds_left = -1;  ///< below 0: not known yet
    bool operator==(const Progress&) const = default;
};

struct RunReport {
    std::size_t run = 0;      ///< points that ran now; the others' results were there
    double seconds = 0;       ///< that it took
    double busy_seconds = 0;  ///< of cores, in the points' processes
};

/// Folder for what running points write, beside the state.
std::string work_folder(const std::string& state_file);

/// One process for each point, `jobs` at a time. The results are those of plan.points, by place.
/// Throws InputError where the disk is full, or the first point that ran lacks a metric that an
/// objective names.
std::vector<Result> run_points(const Study& study, const Plan& plan, Store& store,
                               const std::string& folder, unsigned jobs,
                               const std::function<void(const Progress&)>& on_progress,
                               RunReport& report);

/// A process' part of a sweep that others share: runs these points one after the other and leaves
/// each one's result in the folder, where collect() finds it.
void run_apart(const Study& study, const Plan& plan, const std::vector<std::size_t>& points,
               const std::string& folder);

/// Takes results that lie in the folder into the store and removes them there; `results` gets those
/// that it lacks. Returns how many there were.
std::size_t collect(const Study& study, const Plan& plan, const std::string& folder, Store& store,
                    std::vector<Result>& results);

/// What the store has of the plan's points.
std::vector<Result> stored_results(const Plan& plan, const Store& store);

}  // namespace lockstep::sweep
