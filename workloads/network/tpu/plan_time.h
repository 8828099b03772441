// SPDX-License-Identifier: Apache-2.0
// How long a piece of a program would take: what plans for a product are compared by.
#pragma once

#include <span>

#include "isa/tpu/instruction.h"
#include "workloads/network/tpu/compile.h"

namespace lockstep::network::lowering {

/// Cycles from the first instruction to the end of the last, on a core that was idle. Of products,
/// on generation 2 and later: loads, stores, matrix instructions, `activate`.
std::uint64_t plan_time(std::span<const tpu::Instruction> instructions, const TpuTarget& target);

}  // namespace lockstep::network::lowering
