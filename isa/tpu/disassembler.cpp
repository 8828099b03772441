// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/disassembler.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::tpu {

namespace {

bool is_address(Field field) {
    switch (field) {
        case Field::kHost:
        case Field::kMemory:
        case Field::kSource:
        case Field::kDestination:
        case Field::kIndices:
        case Field::kAddress:
        case Field::kParameters:
        case Field::kAddend:
        case Field::kA:
        case Field::kB:
        case Field::kWeights:
            return true;
        default:
            return false;
    }
}

std::string text(const Instruction& instruction, Field field) {
    const FieldRow& properties = row(field);
    const std::uint64_t value = instruction[field];
    switch (properties.kind) {
        case FieldKind::kName:
            return std::string(properties.names[value]);
        case FieldKind::kSigned:
            return fmt::format("{}", instruction.signed_value(field));
        case FieldKind::kFloat: {
            // The shortest decimal that reads back to the same bits; NaNs as bits.
            const float number = instruction.float_value(field);
            return std::isnan(number) ? fmt::format("bits:{:#x}", value)
                                      : fmt::format("{}", number);
        }
        default:
            return is_address(field) ? fmt::format("{:#x}", value) : fmt::format("{}", value);
    }
}

}  // namespace

std::string disassemble(const Instruction& instruction) {
    const OpcodeRow& opcode = row(instruction.opcode());
    std::string line(opcode.mnemonic);
    const char* separator = " ";
    const auto append = [&](Field field) {
        if (instruction[field] == 0) return;
        line += fmt::format("{}{}={}", separator, row(field).name, text(instruction, field));
        separator = ", ";
    };
    for (const Field field : opcode.fields) append(field);
    for (std::size_t wait = 0; wait < kQueues; ++wait) append(static_cast<Field>(wait));
    return line;
}

}  // namespace lockstep::tpu
