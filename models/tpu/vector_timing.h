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

/// What a register of elements asks of the slots.
struct VectorWork {
    std::uint64_t loads = 0, operations = 0, stores = 0;

    VectorWork& operator+=(const VectorWork& other) {
        loads += other.loads;
        operations += other.operations;
        stores += other.stores;
        return *this;
    }
};

/// Of a `vector` or `reduce`.
VectorWork vector_work(const Instruction& instruction, const VectorParameters& parameters);
/// Of an instruction, and of those of its loop before it, which keep their results in registers.
VectorTime vector_time(const Instruction& instruction, const VectorParameters& parameters,
                       const VectorWork& before = {});

}  // namespace lockstep::tpu
