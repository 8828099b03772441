// SPDX-License-Identifier: Apache-2.0
// Text of SASS instructions, as NVIDIA's nvdisasm 11.8 prints them with -raw.
#pragma once

#include <cstdint>
#include <string>

#include "isa/sass/word.h"

namespace lockstep::sass {

/// Whether the table has a row for this word on this architecture.
bool is_known(Word word, Arch arch);

/// One instruction, without the final semicolon: "@!P0 FADD.FTZ R0, -R1.reuse, |R2|". pc is its
/// byte address, from which branch targets are computed. A word that the table does not know gives
/// ".word 0x..., 0x..." (low half first).
std::string disassemble(Word word, Arch arch, std::uint64_t pc);

}  // namespace lockstep::sass
