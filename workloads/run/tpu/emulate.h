// SPDX-License-Identifier: Apache-2.0
// A TPU program's right answers without time: its instructions in their order.
#pragma once

#include <functional>

#include "models/tpu/tpu.h"
#include "workloads/run/job.h"

namespace lockstep::run {

/// `host` does the program's host tasks (tpu::RunOptions::host). Adds the program's steps to the
/// statistics.
void emulate_tpu_program(const tpu::Program& program, const tpu::Parameters& parameters,
                         tpu::Storage& storage, stats::Statistics& statistics, Screen& screen,
                         const std::function<void(std::uint32_t)>& host = {});

}  // namespace lockstep::run
