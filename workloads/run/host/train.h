// SPDX-License-Identifier: Apache-2.0
// Training on this computer's own cores.
#pragma once

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// Trains with the reference executor, in fp32 and on one core. What a step takes is measured on
/// this computer, and differs from run to run; losses and weights do not.
Outcome train_on_host(const Job& job, const Subject& subject, const MachinePtr& machine,
                      Screen& screen);

}  // namespace lockstep::run
