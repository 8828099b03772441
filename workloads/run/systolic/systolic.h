// SPDX-License-Identifier: Apache-2.0
// Networks on the bare systolic array.
#pragma once

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// Runs every matrix product of a network, each with operands of its own; the array has nothing
/// that could do the operators between them.
Outcome run_systolic(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen);

}  // namespace lockstep::run
