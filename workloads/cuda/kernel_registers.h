// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workloads/cuda/kernel_name.h"

namespace lockstep::cuda {

/// Registers that a built-in kernel has by thread on a compute capability, as its cubin says, in
/// whole units of what a warp is given (8 by thread: CUDA C++ Programming Guide, technical
/// specifications); 255, the most there are, where it is not compiled for that.
std::uint32_t kernel_registers(const KernelName& name, int arch);

}  // namespace lockstep::cuda
