// SPDX-License-Identifier: Apache-2.0
#include "isa/command/word.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::command {

namespace {

constexpr std::uint32_t kOpcodeBits = 8;

void put(std::span<std::uint8_t> word, std::uint32_t bit, std::uint32_t width,
         std::uint64_t value) {
    for (std::uint32_t done = 0; done < width;) {
        const std::uint32_t at = bit + done, offset = at % 8;
        const std::uint32_t count = std::min(8 - offset, width - done);
        const auto part = static_cast<std::uint32_t>(value >> done) & ((1u << count) - 1);
        word[at / 8] = static_cast<std::uint8_t>(word[at / 8] | (part << offset));
        done += count;
    }
}

std::uint64_t get(std::span<const std::uint8_t> word, std::uint32_t bit, std::uint32_t width) {
    std::uint64_t value = 0;
    for (std::uint32_t done = 0; done < width;) {
        const std::uint32_t at = bit + done, offset = at % 8;
        const std::uint32_t count = std::min(8 - offset, width - done);
        const std::uint64_t part = (std::uint32_t{word[at / 8]} >> offset) & ((1u << count) - 1);
        value |= part << done;
        done += count;
    }
    return value;
}

/// Calls visit(row, bit) for the waits and the fields; the bit after the last.
template <typename Visit>
std::uint32_t for_each_field(const Description& isa, const OpcodeRow& opcode, const Visit& visit) {
    std::uint32_t bit = kOpcodeBits;
    const auto place = [&](const FieldRow& field) {
        visit(field, bit);
        bit += field.width;
    };
    for (std::size_t wait = 0; wait < isa.queue_count(); ++wait) place(isa.fields[wait]);
    for (const Id field : opcode.fields) place(isa.row(field));
    return bit;
}

}  // namespace

std::uint32_t first_field_bit(const Description& isa) {
    std::uint32_t bit = kOpcodeBits;
    for (std::size_t wait = 0; wait < isa.queue_count(); ++wait) bit += isa.fields[wait].width;
    return bit;
}

std::uint32_t word_end(const Description& isa, const OpcodeRow& opcode) {
    return for_each_field(isa, opcode, [](const FieldRow&, std::uint32_t) {});
}

void encode(const Instruction& instruction, std::span<std::uint8_t> word) {
    std::fill(word.begin(), word.end(), std::uint8_t{0});
    word[0] = instruction.number();
    for_each_field(instruction.isa(), instruction.row(),
                   [&](const FieldRow& field, std::uint32_t bit) {
                       put(word, bit, field.width, instruction.value(field.field));
                   });
}

std::string check_opcode(const Description& isa, std::span<const std::uint8_t> word) {
    return isa.find(word[0]) != nullptr ? "" : fmt::format("unknown opcode {:#04x}", word[0]);
}

std::string decode_fields(std::span<const std::uint8_t> word, Instruction& into) {
    const Description& isa = into.isa();
    const OpcodeRow& opcode = into.row();
    std::string error;
    const std::uint32_t end =
        for_each_field(isa, opcode, [&](const FieldRow& field, std::uint32_t bit) {
            std::uint64_t value = get(word, bit, field.width);
            if (field.kind == FieldKind::kSigned && value >> (field.width - 1) != 0)
                value |= ~std::uint64_t{0} << field.width;
            if (fits(field, value))
                into.put(field.field, value);
            else if (error.empty())
                error =
                    fmt::format("{}: {} means nothing as {}", opcode.mnemonic, value, field.name);
        });
    for (std::uint32_t bit = end; bit < 8 * isa.word_bytes && error.empty(); ++bit)
        if (get(word, bit, 1) != 0)
            error = fmt::format("{}: bit {} must be zero", opcode.mnemonic, bit);
    return error;
}

}  // namespace lockstep::command
