// SPDX-License-Identifier: Apache-2.0
// How long the vector unit is busy with an instruction.
#pragma once

#include <cstdint>

#include "isa/tpu/instruction.h"
#include "models/tpu/parameters.h"

namespace lockstep::tpu {

struct VectorTime {
    /// Cycles in which no other instruction can start.
    std::uint64_t issue = 1;
    /// Cycles of the cross-lane unit, beside what comes after.
    std::uint64_t cross_lane = 0;
};

VectorTime vector_time(const Instruction& instruction, const VectorParameters& parameters);

}  // namespace lockstep::tpu
