// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "isa/tpu/builder.h"
#include "isa/tpu/program.h"
#include "sim/error/error.h"

namespace lockstep::tpu {
namespace {

using testing::HasSubstr;

Program example() {
    ProgramBuilder builder(1);
    const auto input =
        builder.add_buffer({"input", Space::kHost, Role::kInput, DataType::kInt8, {4, 256}, 1024});
    const auto output =
        builder.add_buffer({"output", Space::kHost, Role::kOutput, DataType::kInt8, {4, 2}, 8});
    const auto weights =
        builder.add_buffer({"weights", Space::kMemory, Role::kConstant, DataType::kInt8, {}, 512});
    const std::vector<std::uint8_t> ones(512, 1);
    builder.add_data(weights, 0, ones);
    builder.begin_step("fc1", 2048);
    builder.emit(Opcode::kReadHost, {{Field::kHost, builder.address(input)},
                                     {Field::kRows, 4},
                                     {Field::kRowBytes, 256},
                                     {Field::kSourcePitch, 256},
                                     {Field::kDestinationPitch, 256}});
    builder.emit(Opcode::kReadWeights, {{Field::kAddress, builder.address(weights)},
                                        {Field::kPitch, 2},
                                        {Field::kLanes, 256},
                                        {Field::kColumns, 2}});
    builder.emit(Opcode::kMatrixMultiply, {{Field::kRows, 4},
                                           {Field::kPitch, 256},
                                           {Field::kLanes, 256},
                                           {Field::kColumns, 2},
                                           {Field::kSwitchWeights, true}});
    builder.emit(Opcode::kActivate, {{Field::kRows, 4},
                                     {Field::kColumns, 2},
                                     {Field::kAccumulatorType, DataType::kInt32},
                                     {Field::kDestination, 4096},
                                     {Field::kPitch, 2},
                                     {Field::kScale, 1.0f},
                                     {Field::kOutScale, 0.1f}});
    builder.emit(Opcode::kWriteHost, {{Field::kSource, 4096},
                                      {Field::kHost, builder.address(output)},
                                      {Field::kRows, 1},
                                      {Field::kRowBytes, 8}});
    return builder.finish();
}

/// Has the host do two tasks.
Program with_host_tasks() {
    ProgramBuilder builder(1);
    const auto buffer =
        builder.add_buffer({"values", Space::kHost, Role::kScratch, DataType::kInt8, {}, 64});
    for (const char* name : {"softmax", "norm"}) {
        builder.begin_step(std::string("host:") + name);
        builder.emit(
            Opcode::kWriteHost,
            {{Field::kHost, builder.address(buffer)}, {Field::kRows, 1}, {Field::kRowBytes, 64}});
        builder.call_host(builder.add_host_task({name, 1000, 128}));
        builder.emit(
            Opcode::kReadHost,
            {{Field::kHost, builder.address(buffer)}, {Field::kRows, 1}, {Field::kRowBytes, 64}});
    }
    return builder.finish();
}

std::string error_of(const std::vector<std::uint8_t>& bytes) {
    try {
        read_program(bytes, "p.tpu");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(TpuProgram, SurvivesItsFile) {
    const Program program = example();
    const auto bytes = write_program(program);
    EXPECT_TRUE(is_program(bytes));
    EXPECT_EQ(read_program(bytes, "p.tpu"), program);
}

TEST(TpuProgram, HostTasksSurviveFileAndListing) {
    const Program program = with_host_tasks();
    ASSERT_EQ(program.host_tasks.size(), 2u);
    EXPECT_EQ(read_program(write_program(program), "p.tpu"), program);
    EXPECT_EQ(assemble(listing(program, true), "p"), program);
    EXPECT_THAT(listing(program, false), HasSubstr(".host softmax 1000 128"));
}

TEST(TpuProgram, TheHostHasOneTaskAtATime) {
    const auto error = [](const std::string& instructions) -> std::string {
        try {
            assemble(".host a 1 1\n.host b 1 1\n" + instructions + "halt\n", "t");
        } catch (const InputError& refusal) {
            return refusal.what();
        }
        return "";
    };
    EXPECT_EQ(error("interrupt_host code=1\nsync_host code=1\ninterrupt_host code=7\n"), "");
    EXPECT_EQ(error("interrupt_host\ninterrupt_host code=1\n"),
              "t:4: instruction 1: the host still has task 0");
    EXPECT_EQ(error("interrupt_host\nsync_host code=1\n"),
              "t:4: instruction 1: the host has not begun task 1");
    EXPECT_EQ(error("interrupt_host code=7\nsync_host code=7\n"),
              "t:4: instruction 1: the host has not begun task 7");
    EXPECT_EQ(error("interrupt_host\n"), "t: nothing waits for the host's task 0");
}

TEST(TpuProgram, SurvivesItsListing) {
    const Program program = example();
    EXPECT_EQ(assemble(listing(program, true), "p"), program);
    EXPECT_THAT(listing(program, false), HasSubstr("# 512 bytes of data for weights at 0x0"));
}

TEST(TpuProgram, NamesOfAnyNetworkSurviveFileAndListing) {
    ProgramBuilder builder(1);
    for (const char* name : {"", "a b", "a#b", "a_b", "\xc3\xa9", "two\nlines", "a_b"})
        builder.add_buffer({name, Space::kHost, Role::kScratch, DataType::kInt8, {}, 8});
    for (const char* name : {"read x", " 3 4 ", "7", "", "#"}) builder.begin_step(name, 5);
    builder.add_host_task({"soft max 1", 2, 3});
    builder.call_host(0);
    const Program program = builder.finish();
    EXPECT_EQ(program.buffers[1].name, "a_b");
    EXPECT_EQ(program.buffers[6].name, "a_b~4");
    EXPECT_EQ(program.steps[0].name, "read x");
    EXPECT_EQ(read_program(write_program(program), "p"), program);
    EXPECT_EQ(assemble(listing(program, true), "p"), program);
    EXPECT_EQ(assemble(".step a 3 b\n.step 5\nhalt\n", "p").steps,
              (std::vector<ProgramStep>{{"a 3 b", 0}, {"5", 0}}));
}

TEST(TpuProgram, EveryPrefixIsRefusedWithItsOffset) {
    const auto bytes = write_program(example());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::string error =
            error_of({bytes.begin(), bytes.begin() + static_cast<long>(size)});
        ASSERT_THAT(error, HasSubstr("p.tpu: offset 0x")) << size;
    }
}

TEST(TpuProgram, AnyChangedByteIsReadOrRefused) {
    const auto bytes = write_program(example());
    std::mt19937 random(3);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        auto changed = bytes;
        changed[at] = static_cast<std::uint8_t>(random());
        error_of(changed);  // nothing but InputError may come out
    }
}

TEST(TpuProgram, CountsThatTheFileCannotHoldAreRefusedAtOnce) {
    auto bytes = write_program(example());
    bytes[16] = bytes[17] = bytes[18] = bytes[19] = 0xff;
    EXPECT_THAT(error_of(bytes), HasSubstr("offset 0x10: 4294967295 buffers"));
}

TEST(TpuProgram, ValidatesWhatTheFileCannotSay) {
    Program program = example();
    program.instructions.pop_back();
    EXPECT_THROW(validate(program, "p"), InputError);
    program = example();
    program.buffers[1].address = 0;
    EXPECT_THROW(validate(program, "p"), InputError);
    program = example();
    program.segments[0].offset = 1;
    EXPECT_THROW(validate(program, "p"), InputError);
    program = example();
    program.instructions[0].set(Field::kStep, 1);
    EXPECT_THROW(validate(program, "p"), InputError);
    program = example();
    program.instructions[1] = Instruction(Opcode::kLoad);  // of generation 2
    EXPECT_THROW(validate(program, "p"), InputError);
    const std::vector<std::uint8_t> file = write_program(program);
    try {
        read_program(file, "p");
        ADD_FAILURE() << "read";
    } catch (const InputError& error) {
        const std::size_t offset = file.size() - (program.instructions.size() - 1) * kWordBytes;
        EXPECT_THAT(error.what(), HasSubstr(fmt::format("p: offset {:#x}: instruction 1: load does "
                                                        "not exist",
                                                        offset)));
    }
}

TEST(TpuAssembler, TakesSymbolsAndTypedData) {
    const Program program = assemble(
        ".generation 2\n"
        ".buffer w memory constant bf16 8 0x100 2 2   # a comment\n"
        ".data w 0 bf16 1 -2 0.5 0\n"
        "load memory=@w+4, destination=0x20, rows=1, row_bytes=4\n"
        "halt\n",
        "t");
    EXPECT_EQ(program.instructions[0][Field::kMemory], 0x104u);
    EXPECT_THAT(program.segments[0].bytes,
                testing::ElementsAre(0x80, 0x3f, 0, 0xc0, 0, 0x3f, 0, 0));
}

TEST(TpuAssembler, SaysLineAndReason) {
    const auto error = [](const std::string& text) -> std::string {
        try {
            assemble(text, "t");
        } catch (const InputError& refusal) {
            return refusal.what();
        }
        return "";
    };
    EXPECT_EQ(error("nop\nfly\n"), "t:2: unknown instruction 'fly'");
    EXPECT_EQ(error("nop rows=1\n"), "t:1: nop has no field 'rows'");
    EXPECT_EQ(error("tag step=x\n"), "t:1: 'x' is not a number");
    EXPECT_EQ(error("read_host rows=16777216\n"), "t:1: 16777216 does not fit into rows (24 bits)");
    EXPECT_EQ(error("nop\n"), "t: the last instruction is not halt");
    EXPECT_EQ(error("tag step=1, step=2\n"), "t:1: tag has 'step' twice");
    EXPECT_EQ(error(".generation 4294967297\n"), "t:1: 4294967297 does not fit into 32 bits");
    EXPECT_EQ(error("\nnop\ntag step=3\nhalt\n"), "t:3: instruction 1: step 3 of 0");
}

TEST(TpuAssembler, RefusesNumbersThatTheirTypeDoesNotHave) {
    const auto reads = [](const std::string& type, const std::string& value) {
        try {
            assemble(
                ".buffer w memory constant int8 8 0\n.data w 0 " + type + " " + value + "\nhalt\n",
                "t");
        } catch (const InputError& refusal) {
            EXPECT_THAT(refusal.what(), HasSubstr("t:2: " + value + " does not fit into "));
            return false;
        }
        return true;
    };
    for (const auto& [type, low, high, too_low, too_high] :
         {std::array{"int8", "-128", "127", "-129", "128"},
          {"uint8", "0", "255", "256", "18446744073709551616"},
          {"int16", "-32768", "0x7fff", "-32769", "0x8000"},
          {"int32", "-2147483648", "2147483647", "-2147483649", "2147483648"}}) {
        EXPECT_TRUE(reads(type, low) && reads(type, high)) << type;
        EXPECT_FALSE(reads(type, too_low) || reads(type, too_high)) << type;
    }
    EXPECT_THROW(assemble(".buffer w memory constant int8 8 0x10\n"
                          "read_weights address=@w+0xffffffffffffffff\nhalt\n",
                          "t"),
                 InputError);
}

}  // namespace
}  // namespace lockstep::tpu
