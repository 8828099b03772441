// SPDX-License-Identifier: Apache-2.0
// A TPU program's right answers without time: its instructions in their order.
#pragma once

#include <functional>

#include "models/tpu/tpu.h"
#include "workloads/run/job.h"

namespace lockstep::run {

/// Executes a program's instructions on what `storage` holds; `visit` sees each before, with its
/// index. ProgramFault naming the instruction.
void execute_tpu_program(const tpu::Program& program, const tpu::Parameters& parameters,
                         tpu::Storage& storage, const std::function<void(std::uint32_t)>& host,
                         const std::function<void(std::size_t, const tpu::Instruction&)>& visit);

/// `host` does the program's host tasks (tpu::RunOptions::host). Adds the program's steps to the
/// statistics.
void emulate_tpu_program(const tpu::Program& program, const tpu::Parameters& parameters,
                         tpu::Storage& storage, stats::Statistics& statistics, Screen& screen,
                         const std::function<void(std::uint32_t)>& host = {});

}  // namespace lockstep::run
