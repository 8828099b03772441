// SPDX-License-Identifier: Apache-2.0
// A job from the command line: run, shown, and its statistics written.
#pragma once

#include "workloads/run/job.h"

namespace lockstep::cli {

/// Returns the exit status.
int run_job(const run::Job& job);

}  // namespace lockstep::cli
