// SPDX-License-Identifier: Apache-2.0
// The NPU's instruction set as data: opcodes, fields, their place in the word.
#pragma once

#include <string_view>

#include "isa/command/description.h"
#include "isa/npu/enums.h"

namespace lockstep::npu {

inline constexpr std::uint32_t kWordBytes = 128;

const command::Description& description();

inline const command::FieldRow& row(Field field) {
    return description().row(field);
}
inline const command::OpcodeRow& row(Opcode opcode) {
    return description().opcodes[static_cast<std::size_t>(opcode)];
}
inline bool has_field(Opcode opcode, Field field) {
    return description().has_field(row(opcode), field);
}
inline Time time_of(Opcode opcode) {
    return static_cast<Time>(row(opcode).time);
}

}  // namespace lockstep::npu
