// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/npu/parameters.h"
#include "workloads/network/npu/target.h"

namespace lockstep::run {

/// What the compiler must know of a machine.
network::NpuTarget npu_target(const npu::Parameters& parameters);

}  // namespace lockstep::run
