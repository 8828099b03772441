// SPDX-License-Identifier: Apache-2.0
// Networks on this computer's own cores.
#pragma once

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// Runs a network in Eigen, once to warm up and then to be measured: seconds are this computer's,
/// not a model's, and differ from run to run. The machine's threads, or --threads where it is
/// given.
Outcome run_on_host(const Job& job, const Subject& subject, const MachinePtr& machine,
                    Screen& screen);

}  // namespace lockstep::run
