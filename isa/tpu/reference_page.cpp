// SPDX-License-Identifier: Apache-2.0
// The reference page, made from the table; a test holds instructions.md to it.
#include <fmt/format.h>

#include "isa/tpu/table.h"

namespace lockstep::tpu {

namespace {

std::string joined(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names)
        text += fmt::format("{}`{}`", text.empty() ? "" : " ", name);
    return text;
}

std::string_view kind_name(const FieldRow& field) {
    switch (field.kind) {
        case FieldKind::kSigned:
            return "signed";
        case FieldKind::kFloat:
            return "fp32";
        case FieldKind::kName:
            return "name";
        default:
            return "unsigned";
    }
}

}  // namespace

std::string reference_page() {
    std::string page =
        "# TPU instructions\n"
        "Made from isa/tpu/table.cpp; do not edit. Ideas, spaces and arithmetic: README.md.\n\n"
        "Every word: bits 0-7 opcode, then eight waits";
    for (std::size_t wait = 0; wait < kQueues; ++wait)
        page += fmt::format("{} `{}` {}-{}", wait == 0 ? ":" : ",",
                            row(static_cast<Field>(wait)).name, 8 + 8 * wait, 15 + 8 * wait);
    page += ".\n";
    for (const OpcodeRow& opcode : opcode_table()) {
        page += fmt::format("\n## {:#04x} `{}`\n{}. Queue: `{}`; machine generations {} to {}.\n",
                            static_cast<int>(opcode.opcode), opcode.mnemonic, opcode.meaning,
                            opcode.queue == Queue::kMatrix0
                                ? std::string_view("matrix[unit]")
                                : queue_names()[static_cast<std::size_t>(opcode.queue)],
                            opcode.first_generation, opcode.last_generation);
        if (opcode.fields.empty()) continue;
        page += "\n| bits | field | kind | meaning |\n|---|---|---|---|\n";
        std::uint32_t bit = kFirstFieldBit;
        for (const Field name : opcode.fields) {
            const FieldRow& field = row(name);
            page += fmt::format("| {}-{} | `{}` | {} | {} |\n", bit, bit + field.width - 1,
                                field.name, kind_name(field), field.meaning);
            bit += field.width;
        }
    }
    page += "\n## Names\n";
    for (const FieldRow& field : field_table())
        if (field.kind == FieldKind::kName)
            page += fmt::format("- `{}`, from 0: {}\n", field.name, joined(field.names));
    return page;
}

}  // namespace lockstep::tpu
