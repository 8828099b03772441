// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/encoding.h"

#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

void put(Word& word, std::uint32_t bit, std::uint32_t width, std::uint64_t value) {
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

template <typename Visit>
std::uint32_t for_each_field(const OpcodeRow& opcode, const Visit& visit) {
    std::uint32_t bit = 8;
    const auto place = [&](Field field) {
        visit(field, row(field), bit);
        bit += row(field).width;
    };
    for (std::size_t wait = 0; wait < kQueues; ++wait) place(static_cast<Field>(wait));
    for (const Field field : opcode.fields) place(field);
    return bit;
}

}  // namespace

Word encode(const Instruction& instruction) {
    Word word{};
    word[0] = static_cast<std::uint8_t>(instruction.opcode());
    for_each_field(row(instruction.opcode()),
                   [&](Field field, const FieldRow& properties, std::uint32_t bit) {
                       put(word, bit, properties.width, instruction[field]);
                   });
    return word;
}

Decoded decode(std::span<const std::uint8_t, kWordBytes> word) {
    Decoded decoded;
    const OpcodeRow* opcode = find_row(word[0]);
    if (opcode == nullptr) {
        decoded.error = fmt::format("unknown opcode {:#04x}", word[0]);
        return decoded;
    }
    decoded.instruction = Instruction(opcode->opcode);
    const std::uint32_t end =
        for_each_field(*opcode, [&](Field field, const FieldRow& properties, std::uint32_t bit) {
            std::uint64_t value = get(word, bit, properties.width);
            if (properties.kind == FieldKind::kSigned && value >> (properties.width - 1) != 0)
                value |= ~std::uint64_t{0} << properties.width;
            if (Instruction::fits(field, value))
                decoded.instruction.set(field, value);
            else if (decoded.error.empty())
                decoded.error = fmt::format("{}: {} means nothing as {}", opcode->mnemonic, value,
                                            properties.name);
        });
    for (std::uint32_t bit = end; bit < kWordBits && decoded.error.empty(); ++bit)
        if (get(word, bit, 1) != 0)
            decoded.error = fmt::format("{}: bit {} must be zero", opcode->mnemonic, bit);
    return decoded;
}

}  // namespace lockstep::tpu
