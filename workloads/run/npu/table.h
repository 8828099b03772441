// SPDX-License-Identifier: Apache-2.0
// A network in several precisions side by side.
#pragma once

#include "workloads/network/graph/graph.h"
#include "workloads/run/job.h"

namespace lockstep::run {

/// For each of job.precision: what it costs in results (percent of test images that are right, or
/// decibels against FP32), bytes of weights, time and energy. A step of
/// the statistics each.
Outcome compare_npu_precisions(const Job& job, const network::Graph& legal,
                               const MachinePtr& machine, Outcome& outcome, Screen& screen);

}  // namespace lockstep::run
