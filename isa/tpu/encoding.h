// SPDX-License-Identifier: Apache-2.0
// Instructions as 80-byte words and back.
#pragma once

#include <array>
#include <span>
#include <string>

#include "isa/tpu/instruction.h"

namespace lockstep::tpu {

using Word = std::array<std::uint8_t, kWordBytes>;

Word encode(const Instruction& instruction);

struct Decoded {
    Instruction instruction;
    std::string error;  ///< empty, or why the word is no instruction
};

/// Every word is either one instruction or an error: unknown opcode, a name out of its set, a bit
/// set outside of the fields. So encode(decode(word)) == word.
Decoded decode(std::span<const std::uint8_t, kWordBytes> word);

}  // namespace lockstep::tpu
