// SPDX-License-Identifier: Apache-2.0
// What the array holds changes where sums are, not what they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "tests/isa/tpu/semantics/core.h"

namespace lockstep::tpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum Field;

Core core_with(Dataflow dataflow) {
    return Core({.unified_buffer = 1 << 16,
                 .accumulator_rows = 64,
                 .array_rows = 16,
                 .array_columns = 8,
                 .matrix_units = 2,
                 .dataflow = dataflow});
}

void read_tile(Core& core, std::uint64_t address, int lanes, int columns,
               DataType type = DataType::kInt8) {
    core.run(Opcode::kReadWeights, {{kFrom, WeightSource::kUnifiedBuffer},
                                    {kAddress, address},
                                    {kPitch, static_cast<std::uint64_t>(columns) * size_of(type)},
                                    {kLanes, lanes},
                                    {kColumns, columns},
                                    {kWeightType, type}});
}

std::string error_of(const std::function<void()>& run) {
    try {
        run();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

TEST(TpuDataflow, SumsStayInTheArrayUntilTheyAreUnloaded) {
    Core core = core_with(Dataflow::kOutputStationary);
    core.put<std::int8_t>(0, {1, 2, 3, 4});     // [lane][column]
    core.put<std::int8_t>(32, {10, -1, 5, 2});  // [row][lane]
    const auto multiply = [&](bool accumulate, bool unload) {
        read_tile(core, 0, 2, 2);
        core.run(Opcode::kMatrixMultiply, {{kSource, 32},
                                           {kPitch, 2},
                                           {kRows, 2},
                                           {kLanes, 2},
                                           {kColumns, 2},
                                           {kAccumulator, 3},
                                           {kAccumulate, accumulate},
                                           {kSwitchWeights, true},
                                           {kDataflow, Dataflow::kOutputStationary},
                                           {kUnload, unload}});
    };
    multiply(false, false);
    EXPECT_THAT(core.accumulators(3, 2), ElementsAre(0, 0));
    multiply(true, true);
    EXPECT_THAT(core.accumulators(3, 2), ElementsAre(14, 32));
    EXPECT_THAT(core.accumulators(4, 2), ElementsAre(22, 36));
    // What has left is not there any more.
    EXPECT_THAT(error_of([&] { multiply(true, true); }), HasSubstr("the array holds 0 x 0"));
}

TEST(TpuDataflow, HeldInputsLeaveTheirSumsTransposed) {
    Core core = core_with(Dataflow::kInputStationary);
    core.put<std::int8_t>(0, {1, 2, 3, 4});
    core.put<std::int8_t>(16, {1, 0, 0, 1});
    core.put<std::int8_t>(32, {10, -1, 5, 2, 0, 1});  // three rows of two lanes
    const auto multiply = [&](std::uint64_t tile, bool switch_inputs, bool accumulate) {
        read_tile(core, tile, 2, 2);
        core.run(Opcode::kMatrixMultiply, {{kSource, 32},
                                           {kPitch, 2},
                                           {kRows, 3},
                                           {kLanes, 2},
                                           {kColumns, 2},
                                           {kAccumulator, 5},
                                           {kAccumulate, accumulate},
                                           {kSwitchWeights, true},
                                           {kDataflow, Dataflow::kInputStationary},
                                           {kSwitchInputs, switch_inputs}});
    };
    EXPECT_THAT(error_of([&] { multiply(0, false, false); }), HasSubstr("the array holds 0 x 0"));
    multiply(0, true, false);
    EXPECT_THAT(core.accumulators(5, 3), ElementsAre(7, 11, 3));
    EXPECT_THAT(core.accumulators(6, 3), ElementsAre(16, 18, 4));
    // The rows are held: what the buffer has meanwhile does not matter.
    core.put<std::int8_t>(32, {99, 99, 99, 99, 99, 99});
    multiply(16, false, true);
    EXPECT_THAT(core.accumulators(5, 3), ElementsAre(17, 16, 3));
    EXPECT_THAT(core.accumulators(6, 3), ElementsAre(15, 20, 5));
    // And leave the right way round.
    core.run(Opcode::kActivate, {{kAccumulator, 5},
                                 {kAccumulatorType, DataType::kInt32},
                                 {kRows, 3},
                                 {kColumns, 2},
                                 {kDestination, 64},
                                 {kPitch, 2},
                                 {kScale, 1.0f},
                                 {kOutScale, 1.0f},
                                 {kTransposed, true}});
    EXPECT_THAT(core.get<std::int8_t>(64, 6), ElementsAre(17, 15, 16, 20, 3, 5));
}

TEST(TpuDataflow, Bf16SumsAreRoundedInTheArraysOrder) {
    // os: over all of k one after the other; is, as ws: within a tile, then the tiles' sums.
    std::mt19937 random(5);
    const int rows = 7, lanes = 16, columns = 5, tiles = 3;
    std::vector<float> a(rows * lanes * tiles), w(lanes * tiles * columns);
    const auto fill = [&](std::vector<float>& values) {
        for (float& value : values)
            value = std::ldexp(static_cast<float>(static_cast<int>(random() % 255) - 127),
                               static_cast<int>(random() % 24) - 12);
    };
    fill(a);
    fill(w);
    for (const Dataflow dataflow :
         {Dataflow::kWeightStationary, Dataflow::kOutputStationary, Dataflow::kInputStationary}) {
        Core core = core_with(dataflow);
        core.put(0, bf16(a));
        core.put(4096, bf16(w));
        for (int t = 0; t < tiles; ++t) {
            read_tile(core, 4096 + static_cast<std::uint64_t>(t * lanes * columns) * 2, lanes,
                      columns, DataType::kBf16);
            core.run(Opcode::kMatrixMultiply,
                     {{kSource, t * lanes * 2},
                      {kPitch, lanes * tiles * 2},
                      {kRows, rows},
                      {kLanes, lanes},
                      {kColumns, columns},
                      {kAccumulate, t != 0},
                      {kSwitchWeights, true},
                      {kType, DataType::kBf16},
                      {kWeightType, DataType::kBf16},
                      {kDataflow, dataflow},
                      {kSwitchInputs, dataflow == Dataflow::kInputStationary},
                      {kUnload, dataflow == Dataflow::kOutputStationary && t == tiles - 1}});
        }
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                float whole = 0, all = 0;
                for (int t = 0; t < tiles; ++t) {
                    float part = 0;
                    for (int k = t * lanes; k < (t + 1) * lanes; ++k) {
                        const float term = a[static_cast<std::size_t>(r * lanes * tiles + k)] *
                                           w[static_cast<std::size_t>(k * columns + c)];
                        part += term;
                        all += term;
                    }
                    whole = t == 0 ? part : whole + part;
                }
                const bool transposed = dataflow == Dataflow::kInputStationary;
                const std::uint32_t bits = core.state.accumulators(
                    static_cast<std::uint64_t>(transposed ? c : r))[transposed ? r : c];
                EXPECT_EQ(bits, std::bit_cast<std::uint32_t>(
                                    dataflow == Dataflow::kOutputStationary ? all : whole))
                    << static_cast<int>(dataflow) << ": " << r << ", " << c;
            }
    }
}

TEST(TpuDataflow, InstructionsThatDoNotFitTheArrayAreRefused) {
    Core core = core_with(Dataflow::kOutputStationary);
    const auto error = [&](Instruction::Fields fields) {
        return error_of([&] { core.run(Opcode::kMatrixMultiply, fields); });
    };
    EXPECT_THAT(error({{kRows, 1}, {kSwitchWeights, true}}),
                HasSubstr("dataflow=ws, but the array holds sums"));
    EXPECT_THAT(
        error({{kRows, 17}, {kSwitchWeights, true}, {kDataflow, Dataflow::kOutputStationary}}),
        HasSubstr("17 rows, but the array has 16 rows"));
    EXPECT_THAT(error({{kDataflow, Dataflow::kOutputStationary}}), HasSubstr("switch_weights=1"));
    EXPECT_THAT(error({{kUnload, true}}), HasSubstr("unload needs dataflow=os"));
    EXPECT_THAT(error({{kSwitchInputs, true}}), HasSubstr("switch_inputs needs dataflow=is"));
    Core inputs = core_with(Dataflow::kInputStationary);
    EXPECT_THAT(error_of([&] {
                    inputs.run(Opcode::kMatrixMultiply, {{kRows, 9},
                                                         {kSwitchWeights, true},
                                                         {kSwitchInputs, true},
                                                         {kDataflow, Dataflow::kInputStationary}});
                }),
                HasSubstr("9 rows, but the array has 8 columns"));
}

}  // namespace
}  // namespace lockstep::tpu
