// SPDX-License-Identifier: Apache-2.0
// The opcodes by name, generated from sass.table: bits 0-8 of a word, the same for all forms of
// operands. Names are the mnemonics; where a mnemonic has several opcodes, lines `op` of the table
// name them.
#pragma once

#include <cstdint>

#include "isa/sass/word.h"

namespace lockstep::sass {

enum class Op : std::uint16_t {
#include "sass_ops.inc"
};

constexpr Op op_of(const Word& word) {
    return static_cast<Op>(word.base_opcode());
}

}  // namespace lockstep::sass
