// SPDX-License-Identifier: Apache-2.0
// What the rows of the table say of operands: which ranges they are (touch_*), and what is wrong
// with them by themselves (check_*: "" where nothing is).
#pragma once

#include <string>

#include "isa/tpu/footprint.h"

namespace lockstep::tpu {

void touch_transfer_in(const Instruction& instruction, Footprint& footprint);
void touch_transfer_out(const Instruction& instruction, Footprint& footprint);
void touch_gather(const Instruction& instruction, Footprint& footprint);
void touch_read_weights(const Instruction& instruction, Footprint& footprint);
void touch_matrix_multiply(const Instruction& instruction, Footprint& footprint);
void touch_convolve(const Instruction& instruction, Footprint& footprint);
void touch_depthwise(const Instruction& instruction, Footprint& footprint);
void touch_activate(const Instruction& instruction, Footprint& footprint);
void touch_vector(const Instruction& instruction, Footprint& footprint);
void touch_reduce(const Instruction& instruction, Footprint& footprint);
void touch_pool(const Instruction& instruction, Footprint& footprint);
void touch_transpose(const Instruction& instruction, Footprint& footprint);

std::string check_matrix_multiply(const Instruction& instruction);
std::string check_convolve(const Instruction& instruction);
std::string check_depthwise(const Instruction& instruction);
std::string check_activate(const Instruction& instruction);
std::string check_vector(const Instruction& instruction);
std::string check_reduce(const Instruction& instruction);
std::string check_pool(const Instruction& instruction);

}  // namespace lockstep::tpu
