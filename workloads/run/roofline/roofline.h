// SPDX-License-Identifier: Apache-2.0
// Networks on machines of which only a data sheet is known.
#pragma once

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// The least time that each layer of a network can take: nothing is executed. Throws InputError
/// where the machine has no peak for the network's `dtype=`; without one, 16 bits where those are
/// faster than fp32.
Outcome run_roofline(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen);

}  // namespace lockstep::run
