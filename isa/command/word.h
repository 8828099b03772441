// SPDX-License-Identifier: Apache-2.0
// Instructions as words and back: opcode in bits 0-7, a wait of 8 bits for each queue, then the
// opcode's fields; the rest is zero. A field's place follows from the order of a row's fields, so
// fields cannot overlap.
#pragma once

#include <array>
#include <span>
#include <string>

#include "isa/command/instruction.h"

namespace lockstep::command {

inline constexpr std::size_t kMaxWordBytes = 128;

/// Where the fields of a row begin, and the bit after the last of them.
std::uint32_t first_field_bit(const Description& isa);
std::uint32_t word_end(const Description& isa, const OpcodeRow& opcode);

/// Writes isa().word_bytes bytes.
void encode(const Instruction& instruction, std::span<std::uint8_t> word);

/// The opcode's number of a word, or why it has none.
std::string check_opcode(const Description& isa, std::span<const std::uint8_t> word);
/// Sets the fields of an instruction that has the word's opcode; why the word is no instruction, or
/// "". Every word is either one instruction or an error (a name out of its set, a bit set outside
/// of the fields), so encode(decode(word)) == word.
std::string decode_fields(std::span<const std::uint8_t> word, Instruction& into);

/// The word of an ISA's own instruction class.
template <typename I>
struct Decoded {
    I instruction;
    std::string error;  ///< empty, or why the word is no instruction
};
template <typename I>
Decoded<I> decode(const Description& isa, std::span<const std::uint8_t> word) {
    Decoded<I> decoded;
    decoded.error = check_opcode(isa, word);
    if (!decoded.error.empty()) return decoded;
    decoded.instruction = I(static_cast<typename I::Opcode>(word[0]));
    decoded.error = decode_fields(word, decoded.instruction);
    return decoded;
}

}  // namespace lockstep::command
