// SPDX-License-Identifier: Apache-2.0
// Training on a GPU.
#pragma once

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// Weights and the optimiser's state stay on the device and are updated there. In cycle mode the
/// first step is simulated, and all others are emulated. --verify holds each step to the reference.
Outcome train_on_gpu(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen);

}  // namespace lockstep::run
