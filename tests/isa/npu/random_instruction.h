// SPDX-License-Identifier: Apache-2.0
// Instructions with random values in every field.
#pragma once

#include <random>

#include "isa/npu/instruction.h"

namespace lockstep::npu {

inline Instruction random_instruction(const command::OpcodeRow& opcode, std::mt19937_64& random) {
    Instruction made(static_cast<Opcode>(opcode.opcode));
    const auto fill = [&](const command::FieldRow& properties) {
        std::uint64_t value = random();
        if (properties.kind == command::FieldKind::kName) {
            value %= properties.names.size();
        } else {
            value &= (std::uint64_t{1} << properties.width) - 1;
            if (properties.kind == command::FieldKind::kSigned &&
                value >> (properties.width - 1) != 0)
                value |= ~std::uint64_t{0} << properties.width;
        }
        made.put(properties.field, value);
    };
    for (std::size_t wait = 0; wait < kQueues; ++wait) fill(description().fields[wait]);
    for (const command::Id field : opcode.fields) fill(description().row(field));
    return made;
}

}  // namespace lockstep::npu
