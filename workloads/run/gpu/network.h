// SPDX-License-Identifier: Apache-2.0
// Networks on a GPU: compiled to launches of our kernels, run, and checked.
#pragma once

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// L2 is warm between launches unless --l2 says otherwise.
Outcome run_gpu_network(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen);

}  // namespace lockstep::run
