// SPDX-License-Identifier: Apache-2.0
// What the operands of several families of instructions have in common.
#pragma once

#include <string>

#include "isa/tpu/operands/handlers.h"

namespace lockstep::tpu {

inline constexpr Space kBuffer = Space::kUnifiedBuffer;

/// The pixels of the input images that the windows of the output rows touch.
void add_windows(Footprint& footprint, const Instruction& instruction, std::uint64_t base,
                 std::uint64_t pixel_bytes);
/// The table of an 8-bit result, where the instruction has one.
void add_table(Footprint& footprint, const Instruction& instruction);
void add_destination(Footprint& footprint, const Instruction& instruction, std::uint64_t rows,
                     std::uint64_t columns);

inline bool is_narrow_integer(DataType type) {
    return !is_float(type) && size_of(type) <= 2;
}
bool is_relu_or_identity(const Instruction& instruction, Field field);
/// What every fixed-point result asks for.
std::string check_fixed_result(const Instruction& instruction, bool uses_shift);
std::string check_table(const Instruction& instruction);
/// What integer results need where they are scaled by an fp32 factor.
std::string check_out_scale(const Instruction& instruction);
std::string check_windows(const Instruction& instruction);

}  // namespace lockstep::tpu
