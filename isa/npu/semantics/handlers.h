// SPDX-License-Identifier: Apache-2.0
// One function an instruction; execute.cpp chooses.
#pragma once

#include "isa/npu/semantics/state.h"

namespace lockstep::npu {

void execute_transfer(const Instruction& instruction, State& state);
void execute_copy(const Instruction& instruction, State& state);
void execute_fill(const Instruction& instruction, State& state);
void execute_convolve(const Instruction& instruction, State& state);
void execute_depthwise(const Instruction& instruction, State& state);
void execute_matrix_multiply(const Instruction& instruction, State& state);
void execute_elementwise(const Instruction& instruction, State& state);
void execute_reduce(const Instruction& instruction, State& state);
void execute_softmax(const Instruction& instruction, State& state);
void execute_local_response(const Instruction& instruction, State& state);
void execute_pool(const Instruction& instruction, State& state);
void execute_resize(const Instruction& instruction, State& state);

}  // namespace lockstep::npu
