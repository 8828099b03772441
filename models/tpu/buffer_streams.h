// SPDX-License-Identifier: Apache-2.0
// Which banks of the unified buffer an instruction accesses how often.
#pragma once

#include "isa/tpu/instruction.h"
#include "models/tpu/unified_buffer.h"

namespace lockstep::tpu {

/// Accesses by bank of a whole instruction; read_weights, load and store: their side of the unified
/// buffer.
BankLoads bank_accesses(const Instruction& instruction, const UnifiedBufferParameters& parameters,
                        bool fixed_function);

/// Accesses in a cycle of an instruction that takes `cycles`.
inline BankLoads per_cycle(BankLoads accesses, double cycles) {
    for (double& bank : accesses) bank /= cycles;
    return accesses;
}

}  // namespace lockstep::tpu
