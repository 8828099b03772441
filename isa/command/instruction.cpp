// SPDX-License-Identifier: Apache-2.0
#include "isa/command/instruction.h"

#include "sim/error/error.h"

namespace lockstep::command {

bool fits(const FieldRow& field, FieldValue value) {
    if (field.kind == FieldKind::kName) return value.bits < field.names.size();
    if (field.kind == FieldKind::kSigned) {
        const auto number = static_cast<std::int64_t>(value.bits);
        const std::int64_t limit = std::int64_t{1} << (field.width - 1);
        return number >= -limit && number < limit;
    }
    return value.bits >> field.width == 0;
}

void Instruction::put(Id field, FieldValue value) {
    const FieldRow& properties = isa_->row(field);
    LOCKSTEP_CHECK(isa_->has_field(row(), field), "{} has no field {}", row().mnemonic,
                   properties.name);
    if (!fits(properties, value))
        throw FieldOverflow(fmt::format("{}: {} does not fit into {} ({} bits)", row().mnemonic,
                                        static_cast<std::int64_t>(value.bits), properties.name,
                                        properties.width));
    values_[field.value] = value.bits;
}

}  // namespace lockstep::command
