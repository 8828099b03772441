// SPDX-License-Identifier: Apache-2.0
// The functions that instructions.table names for what an instruction computes.
#pragma once

#include "isa/npu/semantics/state.h"

namespace lockstep::npu {

inline void no_effect(const Instruction&, State&) {}

// One line may serve several instructions: a function can be declared again.
#define OPCODE(opcode, mnemonic, queue, time, touch, check, execute, ...) \
    void execute(const Instruction&, State&);
#include "isa/npu/instructions.table"

}  // namespace lockstep::npu
