// SPDX-License-Identifier: Apache-2.0
// The functions that instructions.table names for an instruction's operands: which ranges they are
// (touch_*), and what is wrong with them by themselves (check_*: "" where nothing is).
#pragma once

#include <string>

#include "isa/npu/footprint.h"
#include "sim/numerics/resize.h"

namespace lockstep::npu {

inline void no_footprint(const Instruction&, Footprint&) {}
inline std::string no_check(const Instruction&) {
    return "";
}

// One line may serve several instructions: a function can be declared again.
#define OPCODE(opcode, mnemonic, queue, time, touch, check, ...) \
    void touch(const Instruction&, Footprint&);                  \
    std::string check(const Instruction&);
#include "isa/npu/instructions.table"

/// Where the rows and columns of a resized image come from.
numerics::ResizeAxis resize_rows(const Instruction& instruction);
numerics::ResizeAxis resize_columns(const Instruction& instruction);

}  // namespace lockstep::npu
