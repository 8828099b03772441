// SPDX-License-Identifier: Apache-2.0
// A job from the command line: run, shown, and its statistics written.
#pragma once

#include "workloads/run/job.h"

namespace lockstep::cli {

/// Returns the exit status. `html_file`: where the run's page goes; empty: nowhere.
int run_job(const run::Job& job, const std::string& html_file = "");

}  // namespace lockstep::cli
