// SPDX-License-Identifier: Apache-2.0
// What can be said of a job before it runs.
#pragma once

#include "workloads/run/job.h"

namespace lockstep::run {

/// Throws the InputError that run() would, as far as machine, subject and options tell it.
void check(const Job& job);

}  // namespace lockstep::run
