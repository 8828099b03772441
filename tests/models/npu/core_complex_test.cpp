// SPDX-License-Identifier: Apache-2.0
// Programs on an NPU: values, order, time and counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "isa/npu/builder.h"
#include "isa/npu/weights.h"
#include "models/npu/command_time.h"
#include "models/npu/npu.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "tests/paths.h"

namespace lockstep::npu {
namespace {

using command::DataType;
using testing::HasSubstr;
using enum Field;

Parameters machine(const std::string& name, const std::vector<std::string>& overrides = {}) {
    return Parameters(*config::Machine::load(name, overrides));
}

/// A 1 x 1 convolution of `tiles` images of 16 x 16 pixels and 64 channels to as many, each loaded,
/// computed on one of the cores and stored by itself.
Program tiles(std::uint64_t count, std::uint64_t cores) {
    constexpr std::uint64_t kBytes = 16 * 16 * 64, kWeightsAt = 0x80000;
    ProgramBuilder builder(1);
    const auto input = builder.add_buffer({"input",
                                           Space::kHost,
                                           Role::kInput,
                                           DataType::kInt8,
                                           {count, 16, 16, 64},
                                           count * kBytes});
    const auto output = builder.add_buffer({"output",
                                            Space::kHost,
                                            Role::kOutput,
                                            DataType::kInt8,
                                            {count, 16, 16, 64},
                                            count * kBytes});
    const auto weights =
        builder.add_buffer({"weights", Space::kMemory, Role::kConstant, DataType::kInt8, {}, 4096});
    std::mt19937 random(1);
    std::vector<std::uint8_t> values(4096);
    for (auto& value : values) value = static_cast<std::uint8_t>(random());
    builder.add_data(weights, 0, values);
    builder.begin_step("conv", count * 256 * 64 * 64);
    builder.emit(Opcode::kLoadWeights, {{kMemory, builder.address(weights)},
                                        {kDestination, kWeightsAt},
                                        {kRowBytes, 4096},
                                        {kRows, 1},
                                        {kPlanes, 1}});
    for (std::uint64_t t = 0; t < count; ++t) {
        const std::uint64_t from = t % 4 * kBytes, to = 0x40000 + t % 4 * kBytes;
        builder.emit(Opcode::kReadHost, {{kHost, builder.address(input) + t * kBytes},
                                         {kDestination, from},
                                         {kRowBytes, kBytes},
                                         {kRows, 1},
                                         {kPlanes, 1}});
        builder.emit(Opcode::kConvolve, {{kCore, t % cores},     {kInput, from},
                                         {kHeight, 16},          {kWidth, 16},
                                         {kChannels, 64},        {kInputRow, 1024},
                                         {kInputPixel, 64},      {kKernelHeight, 1},
                                         {kKernelWidth, 1},      {kStrideHeight, 1},
                                         {kStrideWidth, 1},      {kDilationHeight, 1},
                                         {kDilationWidth, 1},    {kOutHeight, 16},
                                         {kOutWidth, 16},        {kOutChannels, 64},
                                         {kWeights, kWeightsAt}, {kWeightBytes, 4096},
                                         {kWeightGroup, 16},     {kMultiplier, 1 << 30},
                                         {kShift, 38},           {kRounding, Rounding::kAway},
                                         {kLow, -128},           {kHigh, 127},
                                         {kOutput, to},          {kOutputRow, 1024},
                                         {kOutputPixel, 64}});
        builder.emit(Opcode::kWriteHost, {{kSource, to},
                                          {kHost, builder.address(output) + t * kBytes},
                                          {kRowBytes, kBytes},
                                          {kRows, 1},
                                          {kPlanes, 1}});
    }
    return builder.finish();
}

std::vector<std::uint8_t> run_values(const Program& program, const Parameters& parameters,
                                     RunResult& result, unsigned threads = 1) {
    Storage storage(program, true);
    std::mt19937 random(2);
    for (auto& value : storage.contents(0)) value = static_cast<std::uint8_t>(random());
    result = run(program, parameters, storage, {.threads = threads});
    const auto output = storage.contents(1);
    return {output.begin(), output.end()};
}

TEST(NpuCores, GiveTheSameBitsAndCyclesHoweverTheyRun) {
    const Program program = tiles(6, 2);
    RunResult one, many;
    const auto first = run_values(program, machine("npu_mobile"), one);
    EXPECT_EQ(run_values(program, machine("npu_mobile"), many, 3), first);
    EXPECT_EQ(one.cycles, many.cycles);
    // Without values the time is the same.
    Storage storage(program, false);
    EXPECT_EQ(run(program, machine("npu_mobile"), storage, {.values = false}).cycles, one.cycles);
    // However the array multiplies and whatever else changes, the bits stay.
    for (const char* change : {"array.zero_skipping=true", "decoder.values=1", "sram.banks=1",
                               "cores=4", "dma.outstanding=1"}) {
        EXPECT_EQ(run_values(program, machine("npu_mobile", {change}), many), first) << change;
        if (std::string_view(change) == "decoder.values=1") {
            EXPECT_GT(many.cycles, one.cycles);
        }
    }
}

TEST(NpuCores, AreBusyForTheClosedFormsCyclesWhereNothingIsInTheWay) {
    const Program program = tiles(1, 1);
    const Parameters parameters = machine("npu_mobile", {"sram.banks=64", "sram.ports=8"});
    RunResult result;
    run_values(program, parameters, result);
    const StepResult& step = result.steps[0];
    const CommandTime time = command_time(program.instructions[3], parameters);
    EXPECT_EQ(step.core_busy, time.cycles);
    EXPECT_EQ(step.bank_stall, 0u);
    EXPECT_EQ(step.array_active + step.decode_stall + step.output_stall, time.cycles);
    EXPECT_EQ(step.macs_8, 256u * 64 * 64);
    EXPECT_EQ(step.macs, step.useful_macs);
    EXPECT_EQ(step.dram_bytes_read, 16384u + 4096);
    EXPECT_EQ(step.dram_bytes_written, 16384u);
    EXPECT_EQ(step.output_bytes, 16384u);
    EXPECT_GT(step.toggled_bits, 0u);
    EXPECT_LT(step.toggled_bits, step.stored_bits);
}

TEST(NpuCores, WorkBesideEachOther) {
    const auto cycles = [&](std::uint64_t cores, const char* change) {
        RunResult result;
        run_values(tiles(8, cores), machine("npu_mobile", {change}), result);
        return result.cycles;
    };
    // Where the memory is fast enough, two cores are nearly twice as fast as one.
    const double speedup =
        double(cycles(1, "memory.bus_width=512")) / double(cycles(2, "memory.bus_width=512"));
    EXPECT_GT(speedup, 1.5);
    EXPECT_LE(speedup, 2.01);
}

TEST(NpuCores, LoseTimeWhereBanksAreFew) {
    const Program program = tiles(4, 2);
    RunResult many, few;
    run_values(program, machine("npu_mobile"), many);
    run_values(program, machine("npu_mobile", {"sram.banks=1", "sram.width=16"}), few);
    EXPECT_GT(few.cycles, many.cycles);
    EXPECT_GT(few.steps[0].bank_stall, 0u);
}

TEST(NpuCores, TransfersHideBehindTheWork) {
    RunResult one, four;
    run_values(tiles(1, 1), machine("npu_mobile"), one);
    run_values(tiles(4, 1), machine("npu_mobile"), four);
    // Four tiles take less than four times one: loads and stores of others go on meanwhile.
    EXPECT_LT(four.cycles, 4 * one.cycles * 9 / 10);
}

TEST(NpuRun, RefusesWhatItCannotDo) {
    const Program program = tiles(1, 1);
    const auto error = [&](const Program& wrong, const Parameters& parameters, bool values) {
        Storage storage(wrong, values);
        try {
            run(wrong, parameters, storage, {.values = values});
        } catch (const std::exception& failure) {
            return std::string(failure.what());
        }
        return std::string("no error");
    };
    EXPECT_THAT(error(program, machine("npu_mobile", {"array.zero_skipping=true"}), false),
                HasSubstr("the time depends on the weights"));
    EXPECT_THAT(error(program, machine("npu_mobile", {"sram.size=4096"}), true),
                HasSubstr("of 4096 bytes of the SRAM"));
    EXPECT_THAT(error(program, machine("npu_mobile", {"array.outputs=8"}), true),
                HasSubstr("weights in groups of 16, but the array takes 8"));
    EXPECT_THAT(error(tiles(2, 2), machine("npu_mobile", {"cores=1"}), true),
                HasSubstr("core 1 of 1"));
    Program unordered = program;
    unordered.instructions[3].set(kWaitLoad, 0);
    EXPECT_THAT(error(unordered, machine("npu_mobile"), true), HasSubstr("does not wait"));
}

TEST(NpuRun, TheExamplesRunOnEveryMachine) {
    std::ifstream file(source_path("isa/npu/examples/convolution.npu"));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const Program program = assemble(text, "convolution.npu");
    std::vector<std::uint8_t> first;
    for (const char* name : {"npu_mobile", "npu_edge", "npu_auto", "nvdla_large", "nvdla_small"}) {
        RunResult result;
        const auto output = run_values(program, machine(name), result);
        if (first.empty()) first = output;
        EXPECT_EQ(output, first) << name;
        EXPECT_GT(result.cycles, 0u);
    }
}

}  // namespace
}  // namespace lockstep::npu
