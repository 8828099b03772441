// SPDX-License-Identifier: Apache-2.0
// The points of a sweep as a job array of Slurm. Tasks leave their results in the work folder,
// which all nodes must see; the process that submitted them is the one that writes the state. Where
// it is ended, the array goes on, and the same command waits for it again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/sweep/runner.h"

namespace lockstep::sweep {

struct SlurmOptions {
    /// Starts this sweep as a task: `FILE` with the task's points is to be put behind it.
    std::vector<std::string> command;
    unsigned jobs = 1;  ///< tasks at a time
};

/// As run_points(). Throws InputError where Slurm is not there or refuses the array.
std::vector<Result> run_on_slurm(const Study& study, const Plan& plan, Store& store,
                                 const std::string& folder, const SlurmOptions& options,
                                 const std::function<void(const Progress&)>& on_progress,
                                 RunReport& report);

/// In a task: the points that its line of the file names by their keys. Throws InputError.
std::vector<std::size_t> points_of_task(const Plan& plan, const std::string& file);

}  // namespace lockstep::sweep
