// SPDX-License-Identifier: Apache-2.0
// `run X --on A,B,C`: the same on several machines, in one table.
#pragma once

#include <string>

#include "workloads/run/job.h"

namespace lockstep::cli {

/// Runs the job on each machine of job.machine, and shows a line for each: one that cannot run it
/// has its reason there. Statistics (.json: all runs; .csv: the table) and page are of all. Returns
/// the exit status: that of the first run that was not well.
int run_on_each(const run::Job& job, const std::string& html_file);

}  // namespace lockstep::cli
