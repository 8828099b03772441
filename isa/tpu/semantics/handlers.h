// SPDX-License-Identifier: Apache-2.0
// One function an instruction; execute.cpp chooses.
#pragma once

#include "isa/tpu/semantics/state.h"

namespace lockstep::tpu {

void execute_transfer(const Instruction& instruction, State& state);
void execute_gather(const Instruction& instruction, State& state);
void execute_read_weights(const Instruction& instruction, State& state);
void execute_matrix(const Instruction& instruction, State& state);
void execute_depthwise(const Instruction& instruction, State& state);
void execute_activate(const Instruction& instruction, State& state);
void execute_vector(const Instruction& instruction, State& state);
void execute_reduce(const Instruction& instruction, State& state);
void execute_pool(const Instruction& instruction, State& state);
void execute_transpose(const Instruction& instruction, State& state);

}  // namespace lockstep::tpu
