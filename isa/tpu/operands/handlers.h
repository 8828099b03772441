// SPDX-License-Identifier: Apache-2.0
// The functions that instructions.table names for an instruction's operands: which ranges they are
// (touch_*), and what is wrong with them by themselves (check_*: "" where nothing is).
#pragma once

#include <string>

#include "isa/tpu/footprint.h"

namespace lockstep::tpu {

inline void no_footprint(const Instruction&, Footprint&) {}
inline std::string no_check(const Instruction&) {
    return "";
}

// One line may serve several instructions: a function can be declared again.
#define OPCODE(opcode, mnemonic, queue, time, first, last, touch, check, ...) \
    void touch(const Instruction&, Footprint&);                               \
    std::string check(const Instruction&);
#include "isa/tpu/instructions.table"

}  // namespace lockstep::tpu
