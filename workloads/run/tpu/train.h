// SPDX-License-Identifier: Apache-2.0
// Training on a TPU of generation 2 or later.
#pragma once

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// Each graph is compiled once; its inputs stay in the program's buffers from step to step. The
/// first step is simulated in cycle mode, all others are emulated: a program takes the same time
/// whatever its values. --verify holds each step to the reference.
Outcome train_on_tpu(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen);

}  // namespace lockstep::run
