// SPDX-License-Identifier: Apache-2.0
// One NPU instruction: its opcode and a value for each field of the opcode's row.
#pragma once

#include <array>

#include "isa/command/word.h"
#include "isa/npu/table.h"

namespace lockstep::npu {

using command::FieldValue;

struct Isa {
    using Opcode = npu::Opcode;
    using Field = npu::Field;
    using Queue = npu::Queue;
    static const command::Description& description() { return npu::description(); }
};

class Instruction : public command::InstructionOf<Isa> {
  public:
    using Opcode = npu::Opcode;
    using Field = npu::Field;
    using InstructionOf::InstructionOf;
    ElementType type(Field field) const { return as<ElementType>(field); }
    bool operator==(const Instruction&) const = default;
};

using Word = std::array<std::uint8_t, kWordBytes>;

inline Word encode(const Instruction& instruction) {
    Word word;
    command::encode(instruction, word);
    return word;
}
inline command::Decoded<Instruction> decode(std::span<const std::uint8_t, kWordBytes> word) {
    return command::decode<Instruction>(description(), word);
}

}  // namespace lockstep::npu
