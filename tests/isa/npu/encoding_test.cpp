// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "isa/command/disassembler.h"
#include "isa/npu/program.h"
#include "tests/isa/npu/random_instruction.h"

namespace lockstep::npu {
namespace {

using command::FieldKind;

TEST(NpuTable, IsADescriptionWithoutContradictions) {
    EXPECT_EQ(command::check_description(description()), "");
    EXPECT_EQ(row(Field::kRounding).names.size(), static_cast<std::size_t>(Rounding::kFp32) + 1);
    EXPECT_EQ(row(Field::kCombine).names.size(), static_cast<std::size_t>(Combine::kMinimum) + 1);
    EXPECT_EQ(row(Field::kInterpolation).names.size(),
              static_cast<std::size_t>(Interpolation::kBilinearCorners) + 1);
    EXPECT_EQ(row(Field::kInputType).names.size(),
              static_cast<std::size_t>(ElementType::kInt32) + 1);
    EXPECT_EQ(description().queue_count(), kQueues);
    EXPECT_EQ(description().spaces.size(), kSpaces);
}

TEST(NpuTable, TheClassOfTimeFollowsTheQueue) {
    for (const command::OpcodeRow& opcode : description().opcodes) {
        const auto time = static_cast<Time>(opcode.time);
        EXPECT_EQ(time == Time::kSequencer, opcode.queue == Queue::kSequencer) << opcode.mnemonic;
        EXPECT_EQ(time == Time::kTransfer, opcode.queue == Queue::kLoad ||
                                               opcode.queue == Queue::kWeights ||
                                               opcode.queue == Queue::kStore)
            << opcode.mnemonic;
        EXPECT_EQ(opcode.touch == nullptr, time == Time::kSequencer) << opcode.mnemonic;
    }
}

TEST(NpuEncoding, NoTwoFieldsOverlap) {
    // Setting one bit of one field changes exactly that bit of the word, and no two fields the
    // same.
    for (const command::OpcodeRow& opcode : description().opcodes) {
        const auto number = static_cast<Opcode>(opcode.opcode);
        const Word empty = encode(Instruction(number));
        std::set<std::pair<std::size_t, int>> seen;
        for (const command::Id id : opcode.fields)
            for (std::uint32_t bit = 0; bit < description().row(id).width; ++bit) {
                const auto field = static_cast<Field>(id);
                std::uint64_t value = std::uint64_t{1} << bit;
                if (row(field).kind == FieldKind::kSigned && bit + 1 == row(field).width)
                    value = ~std::uint64_t{0} << bit;
                if (!Instruction::fits(field, value)) continue;
                Instruction one(number);
                one.set(field, value);
                const Word word = encode(one);
                int changed = 0;
                for (std::size_t byte = 0; byte < word.size(); ++byte)
                    for (int b = 0; b < 8; ++b)
                        if (((word[byte] ^ empty[byte]) >> b & 1) != 0) {
                            ++changed;
                            EXPECT_TRUE(seen.insert({byte, b}).second)
                                << opcode.mnemonic << " " << row(field).name;
                        }
                EXPECT_EQ(changed, 1) << opcode.mnemonic << " " << row(field).name << " " << bit;
            }
    }
}

TEST(NpuEncoding, RandomInstructionsSurviveWordAndText) {
    std::mt19937_64 random(1);
    for (const command::OpcodeRow& opcode : description().opcodes)
        for (int repeat = 0; repeat < 100; ++repeat) {
            const Instruction made = random_instruction(opcode, random);
            const auto back = decode(encode(made));
            ASSERT_EQ(back.error, "");
            ASSERT_EQ(back.instruction, made) << disassemble(made);
            ASSERT_EQ(assemble_instruction(disassemble(made)), made) << disassemble(made);
        }
}

TEST(NpuEncoding, EveryWordIsAnInstructionOrAnError) {
    std::mt19937_64 random(2);
    int good = 0;
    for (int repeat = 0; repeat < 20000; ++repeat) {
        Word word{};
        const std::size_t filled = random() % (kWordBytes + 1);
        for (std::size_t i = 0; i < filled; ++i) word[i] = static_cast<std::uint8_t>(random());
        word[0] = static_cast<std::uint8_t>(random() % (description().opcodes.size() + 2));
        const auto decoded = decode(word);
        if (!decoded.error.empty()) continue;
        ++good;
        ASSERT_EQ(encode(decoded.instruction), word);
    }
    EXPECT_GT(good, 1000);
}

}  // namespace
}  // namespace lockstep::npu
