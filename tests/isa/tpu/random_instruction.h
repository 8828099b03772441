// SPDX-License-Identifier: Apache-2.0
// Instructions with random values in every field.
#pragma once

#include <random>

#include "isa/tpu/instruction.h"

namespace lockstep::tpu {

inline Instruction random_instruction(const OpcodeRow& opcode, std::mt19937_64& random) {
    Instruction made(opcode.opcode);
    const auto fill = [&](Field field) {
        const FieldRow& properties = row(field);
        std::uint64_t value = random();
        if (properties.kind == FieldKind::kName) {
            value %= properties.names.size();
        } else {
            value &= (std::uint64_t{1} << properties.width) - 1;
            if (properties.kind == FieldKind::kSigned && value >> (properties.width - 1) != 0)
                value |= ~std::uint64_t{0} << properties.width;
        }
        made.set(field, value);
    };
    for (std::size_t wait = 0; wait < kQueues; ++wait) fill(static_cast<Field>(wait));
    for (const Field field : opcode.fields) fill(field);
    return made;
}

}  // namespace lockstep::tpu
