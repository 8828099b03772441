// SPDX-License-Identifier: Apache-2.0
// Networks on a TPU: compiled, run and checked.
#pragma once

#include "models/tpu/tpu.h"
#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

Outcome run_tpu_network(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen);

/// The counters of a network in time, without values: job.what on job.machine, all else as the
/// machine has it. Throws InputError where the machine is no TPU.
tpu::RunResult time_tpu_network(const Job& job);

}  // namespace lockstep::run
