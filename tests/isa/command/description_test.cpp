// SPDX-License-Identifier: Apache-2.0
#include "isa/command/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "isa/command/disassembler.h"
#include "isa/command/word.h"
#include "sim/error/error.h"
#include "tests/isa/command/toy_isa.h"

namespace lockstep::command::toy {
namespace {

using testing::HasSubstr;

TEST(CommandDescription, OfTablesThatAreRightHasNothingWrong) {
    EXPECT_EQ(check_description(Isa::description()), "");
}

TEST(CommandDescription, ErrorsNameTheRow) {
    const Description& good = Isa::description();
    {
        std::vector<OpcodeRow> rows(good.opcodes.begin(), good.opcodes.end());
        std::swap(rows[1], rows[2]);
        Description bad = good;
        bad.opcodes = rows;
        EXPECT_EQ(check_description(bad), "opcode call_host stands out of order");
    }
    {
        std::vector<FieldRow> rows(good.fields.begin(), good.fields.end());
        rows[7].name = "address";
        Description bad = good;
        bad.fields = rows;
        EXPECT_EQ(check_description(bad), "field address has the name of another");
    }
    {
        Description bad = good;
        bad.word_bytes = 12;
        EXPECT_EQ(check_description(bad), "opcode move does not fit into the word");
    }
    {
        const Id fields[] = {Field::kHost, Field::kHost};
        std::vector<OpcodeRow> rows(good.opcodes.begin(), good.opcodes.end());
        rows[4].fields = fields;
        Description bad = good;
        bad.opcodes = rows;
        EXPECT_EQ(check_description(bad), "opcode move has field host twice");
    }
}

TEST(CommandDescription, MakesTheReferencePage) {
    const std::string page = reference_page(Isa::description());
    EXPECT_THAT(page, HasSubstr("# toy instructions\nMade from toy_isa.cpp;"));
    EXPECT_THAT(page, HasSubstr("then three waits: `wait_move` 8-15, `wait_alu0` 16-23"));
    EXPECT_THAT(page, HasSubstr("## 0x05 `add`\nadds in place. Queue: `alu[alu]`"));
    EXPECT_THAT(page, HasSubstr("| 32-32 | `alu` | unsigned | which ALU |"));
    EXPECT_THAT(page, HasSubstr("- `mode`, from 0: `wrap` `saturate`"));
}

TEST(CommandInstruction, SurvivesItsWordAndRefusesOtherWords) {
    const Instruction made(Opcode::kAdd, {{Field::kAlu, 1},
                                          {Field::kAddress, 0x1234},
                                          {Field::kShift, -32},
                                          {Field::kScale, 0.5f},
                                          {Field::kMode, 1},
                                          {Field::kWaitMove, 3}});
    std::array<std::uint8_t, 32> word;
    encode(made, word);
    EXPECT_EQ(decode<Instruction>(Isa::description(), word).instruction, made);
    word[31] = 1;
    EXPECT_EQ(decode<Instruction>(Isa::description(), word).error, "add: bit 248 must be zero");
    word[0] = 9;
    EXPECT_EQ(decode<Instruction>(Isa::description(), word).error, "unknown opcode 0x09");
}

TEST(CommandInstruction, IsAsShortATextAsItCan) {
    EXPECT_EQ(disassemble(Instruction(Opcode::kAdd, {{Field::kAddress, 32},
                                                     {Field::kShift, -1},
                                                     {Field::kMode, 1},
                                                     {Field::kWaitAlu1, 2}})),
              "add address=0x20, shift=-1, mode=saturate, wait_alu1=2");
}

TEST(CommandInstruction, RefusesValuesThatDoNotFit) {
    EXPECT_THROW(Instruction(Opcode::kAdd, {{Field::kShift, 32}}), InputError);
    EXPECT_THROW(Instruction(Opcode::kAdd, {{Field::kMode, 2}}), InputError);
    EXPECT_THROW(Instruction(Opcode::kMove, {{Field::kMode, 0}}), InternalError);
}

TEST(CommandInstruction, GoesToTheQueueOfItsUnit) {
    EXPECT_EQ(Instruction(Opcode::kAdd).queue(), Queue::kAlu0);
    EXPECT_EQ(Instruction(Opcode::kAdd, {{Field::kAlu, 1}}).queue(), Queue::kAlu1);
    EXPECT_EQ(Instruction(Opcode::kMove).queue(), Queue::kMove);
}

}  // namespace
}  // namespace lockstep::command::toy
