// SPDX-License-Identifier: Apache-2.0
// What a comparison with the reference found, told and kept.
#pragma once

#include <vector>

#include "workloads/network/compile/verify.h"
#include "workloads/run/job.h"

namespace lockstep::run {

/// Shows each check; outcome.passed is whether all passed. The largest error goes to the totals as
/// "error.rms", relative to the root mean square of the exact values, where it is known.
void judge(const std::vector<network::compile::Check>& checks, Outcome& outcome, Screen& screen);

}  // namespace lockstep::run
