// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/cuda_api/driver/abi.h"
#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda::driver {

/// What a copy of a box does; kInvalidValue where its rows or arrays do not fit.
Error box_operation(cuda::Context& context, const Memcpy3D* p, Operation& operation);

}  // namespace lockstep::cuda::driver
