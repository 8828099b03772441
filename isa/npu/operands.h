// SPDX-License-Identifier: Apache-2.0
// What the rows of the table say of operands: which ranges they are (touch_*), and what is wrong
// with them by themselves (check_*: "" where nothing is).
#pragma once

#include <string>

#include "isa/npu/footprint.h"
#include "sim/numerics/resize.h"

namespace lockstep::npu {

void touch_transfer_in(const Instruction& instruction, Footprint& footprint);
void touch_transfer_out(const Instruction& instruction, Footprint& footprint);
void touch_convolve(const Instruction& instruction, Footprint& footprint);
void touch_matrix_multiply(const Instruction& instruction, Footprint& footprint);
void touch_elementwise(const Instruction& instruction, Footprint& footprint);
void touch_pool(const Instruction& instruction, Footprint& footprint);
void touch_reduce(const Instruction& instruction, Footprint& footprint);
void touch_softmax(const Instruction& instruction, Footprint& footprint);
void touch_local_response(const Instruction& instruction, Footprint& footprint);
void touch_resize(const Instruction& instruction, Footprint& footprint);
void touch_copy(const Instruction& instruction, Footprint& footprint);

std::string check_convolve(const Instruction& instruction);
std::string check_matrix_multiply(const Instruction& instruction);
std::string check_elementwise(const Instruction& instruction);
std::string check_pool(const Instruction& instruction);
std::string check_reduce(const Instruction& instruction);
std::string check_softmax(const Instruction& instruction);
std::string check_local_response(const Instruction& instruction);
std::string check_resize(const Instruction& instruction);
std::string check_copy(const Instruction& instruction);

/// Where the rows and columns of a resized image come from.
numerics::ResizeAxis resize_rows(const Instruction& instruction);
numerics::ResizeAxis resize_columns(const Instruction& instruction);

}  // namespace lockstep::npu
