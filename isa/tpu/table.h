// SPDX-License-Identifier: Apache-2.0
// The TPU's instruction set as data: opcodes, fields, their place in the word.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "isa/command/description.h"
#include "isa/tpu/enums.h"

namespace lockstep::tpu {

using command::FieldKind;
using command::FieldRow;
using command::OpcodeRow;

inline constexpr std::uint32_t kWordBytes = 96;
inline constexpr int kGenerations = 4;

const command::Description& description();

inline std::span<const OpcodeRow> opcode_table() {
    return description().opcodes;
}
inline std::span<const FieldRow> field_table() {
    return description().fields;
}
inline std::span<const std::string_view> queue_names() {
    return description().queues;
}
inline std::span<const std::string_view> space_names() {
    return description().spaces;
}
inline const FieldRow& row(Field field) {
    return description().row(field);
}
inline const OpcodeRow& row(Opcode opcode) {
    return opcode_table()[static_cast<std::size_t>(opcode)];
}
/// Whether instructions of this opcode have the field (waits: all have).
inline bool has_field(Opcode opcode, Field field) {
    return description().has_field(row(opcode), field);
}
/// What instructions.table says of a function of the vector unit.
struct FunctionRow {
    FunctionTime time;
    std::uint8_t operations;  ///< of the ALU, an element; 0 where `time` is another
};
const FunctionRow& row(Function function);
inline Time time_of(Opcode opcode) {
    return static_cast<Time>(row(opcode).time);
}

}  // namespace lockstep::tpu
