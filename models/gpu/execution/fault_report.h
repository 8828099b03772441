// SPDX-License-Identifier: Apache-2.0
// What a user reads when a simulated thread faults.
#pragma once

#include <string>

#include "models/gpu/execution/cta_runner.h"
#include "models/memory/global_memory.h"

namespace lockstep::gpu {

/// Several lines: what happened, kernel, CTA, thread, pc, instruction, nearest allocation.
std::string fault_report(const LocatedFault& fault, const sass::Launch& launch,
                         const memory::DeviceMemory& memory);

}  // namespace lockstep::gpu
