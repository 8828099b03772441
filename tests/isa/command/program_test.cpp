// SPDX-License-Identifier: Apache-2.0
#include "isa/command/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "tests/isa/command/toy_isa.h"

namespace lockstep::command::toy {
namespace {

using testing::HasSubstr;

Instruction move(std::uint64_t address, std::uint64_t bytes) {
    return {Opcode::kMove, {{Field::kAddress, address}, {Field::kBytes, bytes}}};
}
Instruction add(std::uint32_t alu, std::uint64_t address, std::uint64_t bytes) {
    return {Opcode::kAdd, {{Field::kAlu, alu}, {Field::kAddress, address}, {Field::kBytes, bytes}}};
}

Program example() {
    Builder builder(2);
    const auto input = builder.add_buffer({"input", Space::kHost, Role::kInput});
    builder.add_buffer({"input", Space::kMemory, Role::kConstant, DataType::kInt8, {4}, 4});
    const std::uint8_t data[] = {1, 2, 3, 4};
    builder.add_data(1, 0, data);
    builder.begin_step("first", 7);
    builder.emit(move(builder.address(input), 64));
    builder.emit(add(0, 0, 32));
    builder.emit(add(1, 32, 32));
    builder.emit(add(1, 0, 64));
    builder.call_host(builder.add_host_task({"task", 10, 20}));
    return builder.finish();
}

template <typename Run>
std::string message_of(const Run& run) {
    try {
        run();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(CommandBuilder, WaitsForWhatAnInstructionTouches) {
    const Program program = example();
    EXPECT_EQ(listing(program, false),
              ".generation 2\n"
              ".buffer input host input int8 0 0x0\n"
              ".buffer input~2 memory constant int8 4 0x0 4\n"
              "# 4 bytes of data for input~2 at 0x0\n"
              ".step first 7\n"
              ".host task 10 20\n"
              "tag\n"
              "move bytes=64\n"
              "add bytes=32, wait_move=1\n"
              "add alu=1, address=0x20, bytes=32, wait_move=1\n"
              "add alu=1, bytes=64, wait_alu0=1\n"
              "call_host wait_move=1\n"
              "sync_host\n"
              "halt\n");
    EXPECT_NO_THROW(check_waits(program));
}

TEST(CommandProgram, WithoutAWaitIsRefused) {
    Program program = example();
    program.instructions[4].set(Field::kWaitAlu0, 0);
    EXPECT_EQ(message_of([&] { check_waits(program); }),
              "instruction 4 (add alu=1, bytes=64) does not wait for instruction 1 of "
              "queue alu0, which touches the same place");
    program = example();
    program.instructions[5].set(Field::kWaitMove, 0);
    EXPECT_THAT(message_of([&] { check_waits(program); }),
                HasSubstr("does not wait for all of queue move"));
}

TEST(CommandProgram, SurvivesItsFileAndItsListing) {
    const Program program = example();
    const std::vector<std::uint8_t> file = write_program(program);
    Program back;
    read_program(back, file, "x");
    EXPECT_EQ(back, program);
    Program text;
    assemble(text, listing(program, true), "x");
    EXPECT_EQ(text, program);
}

TEST(CommandProgram, ErrorsSayWhatAndWhere) {
    const auto assembled = [](std::string_view text) {
        return message_of([&] {
            Program program;
            assemble(program, text, "x");
        });
    };
    EXPECT_EQ(assembled("frob"), "x:1: unknown instruction 'frob'");
    EXPECT_EQ(assembled("add\nhalt"), "x:1: instruction 0: add does not exist on toy generation 1");
    EXPECT_EQ(assembled(".generation 2\nadd bytes=3\nhalt"),
              "x:2: instruction 0: add: bytes that are no whole elements");
    EXPECT_EQ(assembled(".generation 2\nadd mode=none\nhalt"),
              "x:2: 'none' is no mode (one of: wrap saturate)");
    EXPECT_EQ(assembled(".generation 3\nhalt"), "x: toy generation 3 does not exist (1 to 2)");
    EXPECT_EQ(assembled(".buffer a scratchpad input int8 1 0"),
              "x:1: 'scratchpad' is no space (one of: host memory)");
    std::vector<std::uint8_t> file = write_program(example());
    const auto read = [&] {
        return message_of([&] {
            Program program;
            read_program(program, file, "x");
        });
    };
    file[8] = 9;
    EXPECT_EQ(read(), "x: offset 0x8: version 9; this program reads 3");
    file[0] = 'X';
    EXPECT_EQ(read(), "x: offset 0x0: not a toy program: no magic LOCKTOY");
}

}  // namespace
}  // namespace lockstep::command::toy
