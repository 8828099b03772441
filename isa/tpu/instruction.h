// SPDX-License-Identifier: Apache-2.0
// One TPU instruction: its opcode and a value for each field of the opcode's row.
#pragma once

#include <array>

#include "isa/command/word.h"
#include "isa/tpu/table.h"

namespace lockstep::tpu {

using command::FieldValue;

struct Isa {
    using Opcode = tpu::Opcode;
    using Field = tpu::Field;
    using Queue = tpu::Queue;
    static const command::Description& description() { return tpu::description(); }
};

class Instruction : public command::InstructionOf<Isa> {
  public:
    using Opcode = tpu::Opcode;
    using Field = tpu::Field;
    using InstructionOf::InstructionOf;
    DataType type(Field field) const { return as<DataType>(field); }
    /// Whether it goes on with the loop of the instruction before it in the vector unit's queue.
    bool continues_loop() const { return as<Taken>(Field::kTakes) != Taken::kNone; }
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

}  // namespace lockstep::tpu
