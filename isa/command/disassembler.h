// SPDX-License-Identifier: Apache-2.0
// An instruction as the text that the assembler reads.
#pragma once

#include <string>

#include "isa/command/instruction.h"

namespace lockstep::command {

/// "mnemonic field=value, ...": fields that are 0 are left out, so the text is short and complete.
std::string disassemble(const Instruction& instruction);

}  // namespace lockstep::command
