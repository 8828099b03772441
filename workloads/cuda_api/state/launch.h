// SPDX-License-Identifier: Apache-2.0
// From the arguments of a launch call to a launch, and whether the machine can take it.
#pragma once

#include "models/device.h"
#include "workloads/cuda_api/state/operation.h"

namespace lockstep::cuda {

/// Loads the kernel and packs its arguments by its parameter table. `extra` is the driver's way to
/// hand over a packed buffer; nullptr where `arguments` is used.
Error make_launch(Context& context, const void* function, abi::Dim3 grid, abi::Dim3 block,
                  void** arguments, std::size_t dynamic_shared, KernelLaunch& launch,
                  void** extra = nullptr);

/// Of a launch or a node. What an attribute says of overlap or of data to keep in the L2 is met by
/// any launch and ignored.
Error set_attribute(KernelLaunch& launch, abi::LaunchAttributeId id,
                    const abi::LaunchAttributeValue& value);

Error check_launch(Context& context, const KernelLaunch& launch);

/// What the device is asked; the parameters stay the launch's.
LaunchRequest request_of(const KernelLaunch& launch);

/// Static shared memory of a kernel without what the system reserves.
std::size_t static_shared(const Kernel& kernel);

/// The most dynamic shared memory that may be asked for at a launch.
std::size_t dynamic_shared_limit(const Kernel& kernel);

/// CTAs of a kernel that an SM holds at once, by warps, CTAs, registers and shared memory.
int resident_blocks(Context& context, const Kernel& kernel, unsigned block_threads,
                    std::size_t dynamic_shared);

}  // namespace lockstep::cuda
