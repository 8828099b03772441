// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/instruction.h"

#include "sim/error/error.h"

namespace lockstep::tpu {

Instruction::Instruction(Opcode opcode, Fields fields) : opcode_(opcode) {
    for (const auto& [field, value] : fields) set(field, value);
}

bool Instruction::fits(Field field, FieldValue value) {
    const FieldRow& properties = row(field);
    if (properties.kind == FieldKind::kName) return value.bits < properties.names.size();
    if (properties.kind == FieldKind::kSigned) {
        const auto number = static_cast<std::int64_t>(value.bits);
        const std::int64_t limit = std::int64_t{1} << (properties.width - 1);
        return number >= -limit && number < limit;
    }
    return value.bits >> properties.width == 0;
}

void Instruction::set(Field field, FieldValue value) {
    LOCKSTEP_CHECK(has_field(opcode_, field), "{} has no field {}", row(opcode_).mnemonic,
                   row(field).name);
    // What is too large comes from the network or program that is compiled.
    if (!fits(field, value))
        throw InputError(fmt::format("{}: {} does not fit into {} ({} bits)", row(opcode_).mnemonic,
                                     static_cast<std::int64_t>(value.bits), row(field).name,
                                     row(field).width));
    values_[index(field)] = value.bits;
}

}  // namespace lockstep::tpu
