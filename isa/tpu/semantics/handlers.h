// SPDX-License-Identifier: Apache-2.0
// The functions that instructions.table names for what an instruction computes.
#pragma once

#include "isa/tpu/semantics/state.h"

namespace lockstep::tpu {

inline void no_effect(const Instruction&, State&) {}

// One line may serve several instructions: a function can be declared again.
#define OPCODE(opcode, mnemonic, queue, time, first, last, touch, check, execute, ...) \
    void execute(const Instruction&, State&);
#include "isa/tpu/instructions.table"

}  // namespace lockstep::tpu
