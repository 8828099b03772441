// SPDX-License-Identifier: Apache-2.0
// How long the vector unit is busy with an instruction.
#pragma once

#include <cstdint>

#include "isa/tpu/instruction.h"
#include "models/tpu/parameters.h"

namespace lockstep::tpu {

/// Cycles in which nothing else can start; the result is there `latency` later.
std::uint64_t vector_cycles(const Instruction& instruction, const VectorParameters& parameters);

}  // namespace lockstep::tpu
