// SPDX-License-Identifier: Apache-2.0
// The reference page, made from the tables; each ISA's test holds its page to it.
#include <fmt/format.h>

#include "isa/command/word.h"

namespace lockstep::command {

namespace {

std::string joined(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names)
        text += fmt::format("{}`{}`", text.empty() ? "" : " ", name);
    return text;
}

std::string_view kind_name(FieldKind kind) {
    switch (kind) {
        case FieldKind::kSigned:
            return "signed";
        case FieldKind::kFloat:
            return "fp32";
        case FieldKind::kName:
            return "name";
        case FieldKind::kUnsigned:
        case FieldKind::kHex:
            break;
    }
    return "unsigned";
}

/// "matrix[unit]" of the units' queues matrix0, matrix1, ...
std::string queue_name(const Description& isa, Id queue) {
    std::string name(isa.queues[queue.value]);
    if (queue != isa.unit_queue || queue == isa.sequencer()) return name;
    return fmt::format("{}[{}]", name.substr(0, name.find_last_not_of("0123456789") + 1),
                       isa.row(isa.unit).name);
}

constexpr std::string_view kCounts[] = {"no",    "one",   "two",  "three", "four",   "five",  "six",
                                        "seven", "eight", "nine", "ten",   "eleven", "twelve"};

}  // namespace

std::string reference_page(const Description& isa) {
    std::string page = fmt::format(
        "# {} instructions\n"
        "Made from {}; do not edit. Ideas, spaces and arithmetic: README.md.\n\n"
        "Every word: bits 0-7 opcode, then {} waits",
        isa.name, isa.source, kCounts[isa.queue_count()]);
    for (std::size_t wait = 0; wait < isa.queue_count(); ++wait)
        page += fmt::format("{} `{}` {}-{}", wait == 0 ? ":" : ",", isa.fields[wait].name,
                            8 + 8 * wait, 15 + 8 * wait);
    page += ".\n";
    for (const OpcodeRow& opcode : isa.opcodes) {
        page += fmt::format("\n## {:#04x} `{}`\n{}. Queue: `{}`; machine generations {} to {}.\n",
                            int{opcode.opcode.value}, opcode.mnemonic, opcode.meaning,
                            queue_name(isa, opcode.queue), opcode.first_generation,
                            opcode.last_generation);
        if (opcode.fields.empty()) continue;
        page += "\n| bits | field | kind | meaning |\n|---|---|---|---|\n";
        std::uint32_t bit = first_field_bit(isa);
        for (const Id name : opcode.fields) {
            const FieldRow& field = isa.row(name);
            page += fmt::format("| {}-{} | `{}` | {} | {} |\n", bit, bit + field.width - 1,
                                field.name, kind_name(field.kind), field.meaning);
            bit += field.width;
        }
    }
    page += "\n## Names\n";
    for (const FieldRow& field : isa.fields)
        if (field.kind == FieldKind::kName)
            page += fmt::format("- `{}`, from 0: {}\n", field.name, joined(field.names));
    return page;
}

}  // namespace lockstep::command
