// SPDX-License-Identifier: Apache-2.0
// A TPU program in time: the run, what it shows, its statistics.
#pragma once

#include <functional>
#include <vector>

#include "models/tpu/tpu.h"
#include "workloads/run/job.h"
#include "workloads/run/steps.h"

namespace lockstep::run {

/// Shows a line a step (job.top) and one in all, and adds the program's steps to the statistics.
/// `host` does the program's host tasks (tpu::RunOptions::host). Throws InputError where the trace
/// cannot be made.
tpu::RunResult simulate_tpu_program(const Job& job, const tpu::Program& program,
                                    const tpu::Parameters& parameters, tpu::Storage& storage,
                                    stats::Statistics& statistics, Screen& screen,
                                    const std::function<void(std::uint32_t)>& host = {});

}  // namespace lockstep::run
