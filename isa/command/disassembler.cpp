// SPDX-License-Identifier: Apache-2.0
#include "isa/command/disassembler.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::command {

namespace {

std::string text(const FieldRow& field, std::uint64_t value) {
    switch (field.kind) {
        case FieldKind::kName:
            return std::string(field.names[value]);
        case FieldKind::kSigned:
            return fmt::format("{}", static_cast<std::int64_t>(value));
        case FieldKind::kFloat: {
            // The shortest decimal that reads back to the same bits; NaNs as bits.
            const float number = std::bit_cast<float>(static_cast<std::uint32_t>(value));
            return std::isnan(number) ? fmt::format("bits:{:#x}", value)
                                      : fmt::format("{}", number);
        }
        case FieldKind::kHex:
            return fmt::format("{:#x}", value);
        case FieldKind::kUnsigned:
            break;
    }
    return fmt::format("{}", value);
}

}  // namespace

std::string disassemble(const Instruction& instruction) {
    const Description& isa = instruction.isa();
    std::string line(instruction.row().mnemonic);
    const char* separator = " ";
    const auto append = [&](const FieldRow& field) {
        const std::uint64_t value = instruction.value(field.field);
        if (value == 0) return;
        line += fmt::format("{}{}={}", separator, field.name, text(field, value));
        separator = ", ";
    };
    for (const Id field : instruction.row().fields) append(isa.row(field));
    for (std::size_t wait = 0; wait < isa.queue_count(); ++wait) append(isa.fields[wait]);
    return line;
}

}  // namespace lockstep::command
