// SPDX-License-Identifier: Apache-2.0
// A built-in network on a TPU, for its time alone.
#pragma once

#include <string>
#include <string_view>

#include "models/tpu/tpu.h"

namespace lockstep::validation {

/// Throws InputError where the machine is no TPU.
tpu::RunResult run_tpu_workload(std::string_view workload, const std::string& machine);

}  // namespace lockstep::validation
