// SPDX-License-Identifier: Apache-2.0
// Which banks of the unified buffer an instruction accesses how often.
#pragma once

#include "isa/tpu/instruction.h"
#include "models/tpu/parameters.h"

namespace lockstep::tpu {

using memory::BankLoads;
using memory::per_cycle;

/// Accesses by bank of a whole instruction; read_weights, load and store: their side of the unified
/// buffer.
BankLoads bank_accesses(const Instruction& instruction, const UnifiedBufferParameters& parameters,
                        bool fixed_function);

}  // namespace lockstep::tpu
