// SPDX-License-Identifier: Apache-2.0
// An NPU program in time, or emulated: the run, what it shows, its statistics.
#pragma once

#include <functional>

#include "models/npu/npu.h"
#include "workloads/run/job.h"
#include "workloads/run/steps.h"

namespace lockstep::run {

/// Shows a line a step (job.top) and one in all, and adds the program's steps to the statistics.
/// `host` does the program's host tasks (npu::RunOptions::host). Throws InputError where the trace
/// cannot be made.
npu::RunResult simulate_npu_program(const Job& job, const npu::Program& program,
                                    const npu::Parameters& parameters, npu::Storage& storage,
                                    stats::Statistics& statistics, Screen& screen,
                                    const std::function<void(std::uint32_t)>& host = {});

/// Executes the program without time, instruction by instruction, as simulate_npu_program does.
void emulate_npu_program(const npu::Program& program, const npu::Parameters& parameters,
                         npu::Storage& storage, stats::Statistics& statistics, Screen& screen,
                         const std::function<void(std::uint32_t)>& host = {});

}  // namespace lockstep::run
