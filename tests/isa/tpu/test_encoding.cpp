// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "isa/command/disassembler.h"
#include "isa/tpu/instruction.h"
#include "isa/tpu/program.h"
#include "tests/isa/tpu/random_instruction.h"

namespace lockstep::tpu {
namespace {

TEST(TpuTable, IsADescriptionWithoutContradictions) {
    EXPECT_EQ(command::check_description(description()), "");
    EXPECT_EQ(row(Field::kFunction).names.size(),
              static_cast<std::size_t>(Function::kShortfall) + 1);
    EXPECT_EQ(row(Field::kFunction).names[static_cast<std::size_t>(Function::kAdd)], "add");
    EXPECT_EQ(queue_names().size(), kQueues + 1);
    EXPECT_EQ(space_names().size(), kSpaces);
}

TEST(TpuTable, TheClassOfTimeFollowsTheQueue) {
    for (const OpcodeRow& opcode : opcode_table()) {
        const auto time = static_cast<Time>(opcode.time);
        EXPECT_EQ(time == Time::kSequencer, opcode.queue == Queue::kSequencer) << opcode.mnemonic;
        EXPECT_EQ(time == Time::kStream, opcode.queue == Queue::kMatrix0) << opcode.mnemonic;
        EXPECT_EQ(time == Time::kTile, opcode.queue == Queue::kWeights) << opcode.mnemonic;
        EXPECT_EQ(time == Time::kTransfer,
                  opcode.queue == Queue::kLoad || opcode.queue == Queue::kStore)
            << opcode.mnemonic;
        EXPECT_EQ(opcode.touch == nullptr, time == Time::kSequencer) << opcode.mnemonic;
    }
}

TEST(TpuEncoding, NoTwoFieldsOverlap) {
    // Setting one bit of one field changes exactly that bit of the word, and no two fields the
    // same.
    for (const OpcodeRow& opcode : opcode_table()) {
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

TEST(TpuEncoding, RandomInstructionsSurviveWordAndText) {
    std::mt19937_64 random(1);
    for (const OpcodeRow& opcode : opcode_table())
        for (int repeat = 0; repeat < 100; ++repeat) {
            const Instruction made = random_instruction(opcode, random);
            const auto back = decode(encode(made));
            ASSERT_EQ(back.error, "");
            ASSERT_EQ(back.instruction, made) << disassemble(made);
            ASSERT_EQ(assemble_instruction(disassemble(made)), made) << disassemble(made);
        }
}

TEST(TpuEncoding, EveryWordIsAnInstructionOrAnError) {
    std::mt19937_64 random(2);
    int good = 0;
    for (int repeat = 0; repeat < 20000; ++repeat) {
        Word word{};
        // Mostly the low bytes, so that many words are right.
        const std::size_t filled = random() % (kWordBytes + 1);
        for (std::size_t i = 0; i < filled; ++i) word[i] = static_cast<std::uint8_t>(random());
        word[0] = static_cast<std::uint8_t>(random() % 24);
        const auto decoded = decode(word);
        if (!decoded.error.empty()) continue;
        ++good;
        ASSERT_EQ(encode(decoded.instruction), word);
    }
    EXPECT_GT(good, 500);
}

TEST(TpuEncoding, ErrorsSayWhat) {
    Word word{};
    word[0] = 0xee;
    EXPECT_EQ(decode(word).error, "unknown opcode 0xee");
    word[0] = static_cast<std::uint8_t>(Opcode::kHalt);
    word[79] = 0x80;
    EXPECT_EQ(decode(word).error, "halt: bit 639 must be zero");
}

TEST(TpuDisassembler, LeavesOutWhatIsZero) {
    EXPECT_EQ(disassemble(Instruction(Opcode::kMatrixMultiply, {{Field::kSource, 0x1000},
                                                                {Field::kRows, 200},
                                                                {Field::kLanes, 256},
                                                                {Field::kSwitchWeights, true},
                                                                {Field::kType, DataType::kUint8},
                                                                {Field::kWaitLoad, 2}})),
              "matrix_multiply source=0x1000, rows=200, lanes=256, switch_weights=1, type=uint8, "
              "wait_load=2");
}

}  // namespace
}  // namespace lockstep::tpu
