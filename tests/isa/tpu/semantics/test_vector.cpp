// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "isa/tpu/semantics/elements.h"
#include "sim/numerics/requantise.h"
#include "tests/isa/tpu/semantics/core.h"

namespace lockstep::tpu {
namespace {

using testing::ElementsAre;
using enum Field;

TEST(TpuElements, IntegersAreRoundedToEvenAndSaturated) {
    const float values[] = {0.5f, 1.5f, -0.5f, 300, -300, std::nanf("")};
    std::int8_t out[6];
    store_elements(values, 6, DataType::kInt8, {1, 0}, reinterpret_cast<std::uint8_t*>(out));
    EXPECT_THAT(out, ElementsAre(0, 2, 0, 127, -128, 0));
    std::uint8_t with_zero[6];
    store_elements(values, 6, DataType::kUint8, {0.5f, 128}, with_zero);
    EXPECT_THAT(with_zero, ElementsAre(129, 131, 127, 255, 0, 128));
    float back[6];
    load_elements(with_zero, DataType::kUint8, 6, {0.5f, 128}, back);
    EXPECT_THAT(back, ElementsAre(0.5f, 1.5f, -0.5f, 63.5f, -64.0f, 0.0f));
    const float large[] = {3e9f, -3e9f, 16777217.0f};
    std::int32_t wide[3];
    store_elements(large, 3, DataType::kInt32, {1, 0}, reinterpret_cast<std::uint8_t*>(wide));
    EXPECT_THAT(wide, ElementsAre(2147483647, -2147483647 - 1, 16777216));
}

TEST(TpuActivate, BiasScalesAddendFunction) {
    Core core;
    core.put<std::int32_t>(0, {10, -100});
    core.put<float>(8, {0.5f, 2.0f});
    core.put<std::uint8_t>(64, {130, 126});
    core.state.accumulators(3)[0] = 90;
    core.state.accumulators(3)[1] = 40;
    core.run(Opcode::kActivate, {{kAccumulator, 3},
                                 {kAccumulatorType, DataType::kInt32},
                                 {kRows, 1},
                                 {kColumns, 2},
                                 {kDestination, 128},
                                 {kType, DataType::kInt8},
                                 {kFunction, Function::kRelu},
                                 {kParameters, 0},
                                 {kHasBias, true},
                                 {kHasScales, true},
                                 {kScale, 1.0f},
                                 {kOutScale, 1.0f},
                                 {kZeroPoint, -3},
                                 {kHasAddend, true},
                                 {kAddend, 64},
                                 {kAddendType, DataType::kUint8},
                                 {kAddendScale, 1.0f},
                                 {kAddendZero, 128}});
    EXPECT_THAT(core.get<std::int8_t>(128, 2),
                ElementsAre(49, -3));  // 50 + 2 - 3, relu(-120 - 2) - 3
}

TEST(TpuActivate, PoolsWhatIsMissingNever) {
    Core core;
    for (std::uint32_t pixel = 0; pixel < 9; ++pixel)
        core.state.accumulators(pixel)[0] =
            std::bit_cast<std::uint32_t>(-1.0f - static_cast<float>(pixel));
    const auto run = [&](PoolMode mode) {
        core.run(Opcode::kActivate, {{kAccumulatorType, DataType::kFp32},
                                     {kRows, 9},
                                     {kColumns, 1},
                                     {kPitch, 4},
                                     {kType, DataType::kFp32},
                                     {kScale, 1.0f},
                                     {Field::kPool, mode},
                                     {kHeight, 3},
                                     {kWidth, 3},
                                     {kPoolKernel, 2},
                                     {kPoolStride, 2},
                                     {kPoolPadTop, 1},
                                     {kPoolPadLeft, 1}});
        return core.get<float>(0, 4);
    };
    EXPECT_THAT(run(PoolMode::kMax), ElementsAre(-1, -2, -4, -5));
    EXPECT_THAT(run(PoolMode::kAverage), ElementsAre(-1, -2.5f, -5.5f, -7));
}

TEST(TpuActivate, NoRowsOfTheLargestImageAreNothing) {
    Core core;
    core.put<std::uint8_t>(0, {7});
    core.run(Opcode::kActivate, {{kAccumulatorType, DataType::kFp32},
                                 {kColumns, 16},
                                 {kType, DataType::kFp32},
                                 {kScale, 1.0f},
                                 {kPool, PoolMode::kMax},
                                 {kHeight, 65535},
                                 {kWidth, 65535},
                                 {kPoolKernel, 2},
                                 {kPoolStride, 2}});
    EXPECT_EQ(core.get<std::uint8_t>(0, 1)[0], 7);
}

TEST(TpuVector, NoRowsOfTheMostColumnsAreNothing) {
    Core core;
    core.put<std::uint8_t>(0, {7});
    core.run(Opcode::kVector, {{kType, DataType::kFp32},
                               {kAType, DataType::kFp32},
                               {kColumns, (1 << 24) - 1},
                               {kFunction, Function::kIdentity}});
    EXPECT_EQ(core.get<std::uint8_t>(0, 1)[0], 7);
}

TEST(TpuVector, BroadcastsAndFunctions) {
    Core core;
    core.put<float>(0, {1, 2, 3, 4, 5, 6});
    core.put<float>(64, {10, 20, 30});
    const auto run = [&](Function function, Broadcast broadcast, Function then) {
        core.run(Opcode::kVector, {{kFunction, function},
                                   {kThen, then},
                                   {kA, 0},
                                   {kAPitch, 12},
                                   {kAType, DataType::kFp32},
                                   {kB, 64},
                                   {kBPitch, 4},
                                   {kBType, DataType::kFp32},
                                   {kBroadcast, broadcast},
                                   {kImmediate, 2.0f},
                                   {kDestination, 128},
                                   {kPitch, 12},
                                   {kType, DataType::kFp32},
                                   {kRows, 2},
                                   {kColumns, 3}});
        return core.get<float>(128, 6);
    };
    EXPECT_THAT(run(Function::kAdd, Broadcast::kRow, Function::kIdentity),
                ElementsAre(11, 22, 33, 14, 25, 36));
    EXPECT_THAT(run(Function::kSubtract, Broadcast::kColumn, Function::kNegate),
                ElementsAre(9, 8, 7, 16, 15, 14));
    EXPECT_THAT(run(Function::kShortfall, Broadcast::kImmediate, Function::kIdentity),
                ElementsAre(-1, 0, 0, 0, 0, 0));
    EXPECT_THAT(run(Function::kMultiply, Broadcast::kImmediate, Function::kSquare),
                ElementsAre(4, 16, 36, 64, 100, 144));
    EXPECT_THAT(
        run(Function::kExp, Broadcast::kNone, Function::kLog),
        testing::Pointwise(testing::FloatNear(1e-5f), std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(TpuVector, QuantisedAddIsThatOfRealNumbers) {
    Core core;
    core.put<std::int8_t>(0, {10, -20, 100, 127});
    core.put<std::uint8_t>(16, {128, 130, 255, 0});
    core.run(Opcode::kVector, {{kFunction, Function::kAdd},
                               {kA, 0},
                               {kAType, DataType::kInt8},
                               {kAScale, 0.5f},
                               {kAZero, 2},
                               {kB, 16},
                               {kBType, DataType::kUint8},
                               {kBScale, 0.25f},
                               {kBZero, 128},
                               {kDestination, 32},
                               {kType, DataType::kInt8},
                               {kOutScale, 0.5f},
                               {kZeroPoint, 1},
                               {kRows, 1},
                               {kColumns, 4}});
    EXPECT_THAT(core.get<std::int8_t>(32, 4), ElementsAre(9, -20, 127, 62));
}

TEST(TpuFixedPoint, ActivateRoundsAndSaturatesAtEachStage) {
    // Two columns; scales of 1/4 and 3/8; then the addend with factors of 1 and 1/2, ReLU, a table.
    Core core;
    const auto quarter = numerics::fixed_point_scale(0.25),
               other = numerics::fixed_point_scale(0.375);
    core.put<std::int32_t>(
        0, {2, -1, quarter.multiplier, other.multiplier, quarter.shift, other.shift});
    core.put<std::int8_t>(64, {-3, 100});
    std::vector<std::int8_t> table(256);
    for (int i = 0; i < 256; ++i)
        table[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(127 - i);  // complement
    core.put(256, table);
    const auto pair = numerics::fixed_point_pair(1.0, 0.5);
    core.state.accumulators(0)[0] = 8;     // 10 / 4 = 2.5: up to 3
    core.state.accumulators(0)[1] = 1001;  // 375: saturates to 127
    const auto run = [&](bool adds, bool relu, bool looks_up) {
        core.run(Opcode::kActivate, {{kAccumulatorType, DataType::kInt32},
                                     {kRows, 1},
                                     {kColumns, 2},
                                     {kDestination, 128},
                                     {kType, DataType::kInt8},
                                     {kFunction, relu ? Function::kRelu : Function::kIdentity},
                                     {kHasBias, true},
                                     {kHasScales, true},
                                     {kZeroPoint, 1},
                                     {kHasAddend, adds},
                                     {kAddend, 64},
                                     {kAddendType, DataType::kInt8},
                                     {kAddendZero, -20},
                                     {kRounding, Rounding::kFixedPoint},
                                     {kFirst, pair.first},
                                     {kSecond, pair.second},
                                     {kShift, pair.shift},
                                     {kSumZero, -5},
                                     {kHasTable, looks_up},
                                     {kTable, 256}});
        return core.get<std::int8_t>(128, 2);
    };
    EXPECT_THAT(run(false, false, false), ElementsAre(4, 127));
    EXPECT_THAT(run(true, false, false), ElementsAre(7, 127));  // 3 + 17 / 2 = 11.5: 12, less 5
    core.put<std::int8_t>(64, {-60, 100});
    EXPECT_THAT(run(true, false, false), ElementsAre(-22, 127));  // 3 - 20 - 5
    EXPECT_THAT(run(true, true, false), ElementsAre(-5, 127));
    EXPECT_THAT(run(true, true, true), ElementsAre(4, -128));
}

TEST(TpuFixedPoint, VectorAddsMultipliesAndRescales) {
    Core core;
    core.put<std::int8_t>(0, {10, -20, 127});
    core.put<std::uint8_t>(16, {128, 131, 255});
    const auto run = [&](Function function, double first, double second) {
        const auto pair = numerics::fixed_point_pair(first, second);
        core.run(Opcode::kVector, {{kFunction, function},
                                   {kA, 0},
                                   {kAType, DataType::kInt8},
                                   {kAZero, 2},
                                   {kB, 16},
                                   {kBType, DataType::kUint8},
                                   {kBZero, 128},
                                   {kDestination, 32},
                                   {kType, DataType::kInt8},
                                   {kZeroPoint, 1},
                                   {kRows, 1},
                                   {kColumns, 3},
                                   {kRounding, Rounding::kFixedPoint},
                                   {kFirst, pair.first},
                                   {kSecond, pair.second},
                                   {kShift, pair.shift}});
        return core.get<std::int8_t>(32, 3);
    };
    EXPECT_THAT(run(Function::kAdd, 1, 0.5),
                ElementsAre(9, -19, 127));  // 8, -22 + 1.5 = -20.5: -20
    EXPECT_THAT(run(Function::kAdd, 1, -0.5),
                ElementsAre(9, -22, 63));  // -23.5: -23; 125 - 63.5 = 61.5: 62
    EXPECT_THAT(run(Function::kMultiply, 0.01, 0), ElementsAre(1, 0, 127));  // 0, -0.66, 158.75
    EXPECT_THAT(run(Function::kIdentity, 0.25, 0), ElementsAre(3, -4, 32));  // 2, -5.5: -5, 31.25
}

TEST(TpuFixedPoint, AnAverageHasAScaleForEachCount) {
    Core core;
    core.put<std::int8_t>(0, {1, 2, 3, 5});  // 2x2 pixels of one channel
    std::vector<std::int32_t> scales;
    for (const double count : {1, 2, 3, 4}) {
        const auto scale = numerics::fixed_point_scale(1 / count);
        scales.insert(scales.end(), {scale.multiplier, scale.shift});
    }
    core.put(64, scales);
    core.run(Opcode::kPool, {{Field::kPool, PoolMode::kAverage},
                             {kAType, DataType::kInt8},
                             {kAZero, -1},
                             {kPixelPitch, 1},
                             {kColumns, 1},
                             {kRows, 4},
                             {kHeight, 2},
                             {kWidth, 2},
                             {kOutHeight, 2},
                             {kOutWidth, 2},
                             {kKernelHeight, 2},
                             {kKernelWidth, 2},
                             {kStrideHeight, 1},
                             {kStrideWidth, 1},
                             {kPadTop, 1},
                             {kPadLeft, 1},
                             {kDestination, 32},
                             {kPitch, 1},
                             {kType, DataType::kInt8},
                             {kZeroPoint, 10},
                             {kRounding, Rounding::kFixedPoint},
                             {kParameters, 64}});
    EXPECT_THAT(core.get<std::int8_t>(32, 4),
                ElementsAre(12, 13, 13, 14));  // 2, 2.5: 3, 3, 3.75: 4
}

TEST(TpuReduce, BothAxes) {
    Core core({1 << 16, 64, 16, 16, 1});
    std::vector<float> values(600);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
    core.put(0, values);
    const auto run = [&](Reduction reduction, Axis axis, std::size_t count) {
        core.run(Opcode::kReduce, {{kReduction, reduction},
                                   {kAxis, axis},
                                   {kA, 0},
                                   {kAPitch, 1200},
                                   {kAType, DataType::kFp32},
                                   {kDestination, 8192},
                                   {kPitch, 4},
                                   {kType, DataType::kFp32},
                                   {kRows, 2},
                                   {kColumns, 300}});
        return core.get<float>(8192, count);
    };
    float sums[2] = {}, squares[2] = {};
    for (std::size_t i = 0; i < 600; ++i) {
        sums[i / 300] += values[i];
        squares[i / 300] += values[i] * values[i];
    }
    EXPECT_THAT(run(Reduction::kSum, Axis::kColumns, 2), ElementsAre(sums[0], sums[1]));
    EXPECT_THAT(run(Reduction::kMean, Axis::kColumns, 2),
                ElementsAre(sums[0] / 300, sums[1] / 300));
    EXPECT_THAT(run(Reduction::kSumOfSquares, Axis::kColumns, 2),
                ElementsAre(squares[0], squares[1]));
    EXPECT_THAT(run(Reduction::kMax, Axis::kColumns, 2), ElementsAre(3, 3));
    EXPECT_THAT(run(Reduction::kMin, Axis::kColumns, 2), ElementsAre(-3, -3));
    EXPECT_EQ(run(Reduction::kSum, Axis::kRows, 300)[5], values[5] + values[305]);
    EXPECT_EQ(run(Reduction::kMax, Axis::kRows, 300)[5], std::max(values[5], values[305]));
}

TEST(TpuPool, AveragesCountOrSkipThePadding) {
    Core core;
    core.put<float>(0, {1, 2, 3, 4});  // 2x2 pixels of one channel
    for (const bool count_pad : {false, true}) {
        core.run(Opcode::kPool, {{Field::kPool, PoolMode::kAverage},
                                 {kCountPad, count_pad},
                                 {kAType, DataType::kFp32},
                                 {kPixelPitch, 4},
                                 {kColumns, 1},
                                 {kRows, 4},
                                 {kHeight, 2},
                                 {kWidth, 2},
                                 {kOutHeight, 2},
                                 {kOutWidth, 2},
                                 {kKernelHeight, 2},
                                 {kKernelWidth, 2},
                                 {kStrideHeight, 1},
                                 {kStrideWidth, 1},
                                 {kPadTop, 1},
                                 {kPadLeft, 1},
                                 {kDestination, 64},
                                 {kPitch, 4},
                                 {kType, DataType::kFp32}});
        if (count_pad)
            EXPECT_THAT(core.get<float>(64, 4), ElementsAre(0.25f, 0.75f, 1, 2.5f));
        else
            EXPECT_THAT(core.get<float>(64, 4), ElementsAre(1, 1.5f, 2, 2.5f));
    }
}

TEST(TpuTranspose, MayOverlap) {
    Core core;
    core.put<std::int16_t>(0, {1, 2, 3, 4, 5, 6});
    core.run(Opcode::kTranspose,
             {{kAPitch, 6}, {kType, DataType::kInt16}, {kPitch, 4}, {kRows, 2}, {kColumns, 3}});
    EXPECT_THAT(core.get<std::int16_t>(0, 6), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(TpuTranspose, RowsUponEachOtherAreNoMoreThanTheBuffer) {
    Core core;  // of 64 KiB
    const auto transpose = [&](int rows) {
        core.run(Opcode::kTranspose, {{kA, 0},
                                      {kAPitch, 0},
                                      {kRows, rows},
                                      {kColumns, 256},
                                      {kType, DataType::kInt8},
                                      {kDestination, 1024},
                                      {kPitch, 0}});
    };
    transpose(256);
    EXPECT_THROW(transpose(257), InputError);
}

TEST(TpuGather, ReadsRowsByIndexAndFaultsOutside) {
    Program program;
    program.buffers.push_back(
        {.name = "table", .space = Space::kMemory, .bytes = 12, .address = 256});
    program.segments.push_back({0, 0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
    Core core({1 << 16, 64, 16, 16, 1}, program);
    const auto gather = [&] {
        core.run(Opcode::kGather, {{kMemory, 256},
                                   {kIndices, 64},
                                   {kRows, 2},
                                   {kRowBytes, 4},
                                   {kSourcePitch, 4},
                                   {kDestinationPitch, 4}});
    };
    core.put<std::int32_t>(64, {2, 0});
    gather();
    EXPECT_THAT(core.get<std::uint8_t>(0, 8), ElementsAre(9, 10, 11, 12, 1, 2, 3, 4));
    core.put<std::int32_t>(64, {3, 0});
    EXPECT_THROW(gather(), ProgramFault);
    core.put<std::int32_t>(64, {-1, 0});
    EXPECT_THROW(gather(), ProgramFault);
}

TEST(TpuDepthwise, MultipliesEachChannelByItsOwnWeights) {
    Core core;
    core.put(0, bf16({1, 2, 3, 4, 5, 6, 7, 8}));       // 2x2 pixels of 2 channels
    core.put(64, bf16({1, 10, 2, 20, 3, 30, 4, 40}));  // [ky][kx][channel]
    core.run(Opcode::kDepthwise, {{kType, DataType::kBf16},
                                  {kPixelPitch, 4},
                                  {kWeights, 64},
                                  {kWeightType, DataType::kBf16},
                                  {kColumns, 2},
                                  {kRows, 1},
                                  {kHeight, 2},
                                  {kWidth, 2},
                                  {kOutHeight, 1},
                                  {kOutWidth, 1},
                                  {kKernelHeight, 2},
                                  {kKernelWidth, 2},
                                  {kStrideHeight, 1},
                                  {kStrideWidth, 1},
                                  {kDilationHeight, 1},
                                  {kDilationWidth, 1}});
    EXPECT_EQ(std::bit_cast<float>(core.state.accumulators(0)[0]), 1 + 6 + 15 + 28);
    EXPECT_EQ(std::bit_cast<float>(core.state.accumulators(0)[1]), 20 + 80 + 180 + 320);
}

/// x - 1 in registers, then what `next` does with it.
void keep_less_one(Core& core) {
    core.run(Opcode::kVector, {{kFunction, Function::kSubtract},
                               {kBroadcast, Broadcast::kImmediate},
                               {kImmediate, 1.0f},
                               {kA, 0},
                               {kAPitch, 8},
                               {kAType, DataType::kFp32},
                               {kAScale, 1.0f},
                               {kKeeps, true},
                               {kType, DataType::kFp32},
                               {kDestination, 0},
                               {kRows, 2},
                               {kColumns, 2}});
}

TEST(TpuLoop, ALaterInstructionTakesWhatIsKept) {
    Core core;
    core.put<float>(0, {1, 2, 3, 4});
    core.put<float>(64, {10, 20, 30, 40});
    const auto subtract = [&](Taken takes, std::uint64_t a, std::uint64_t b) {
        keep_less_one(core);
        core.run(Opcode::kVector, {{kFunction, Function::kSubtract},
                                   {kTakes, takes},
                                   {kA, a},
                                   {kAPitch, 8},
                                   {kAType, DataType::kFp32},
                                   {kAScale, 1.0f},
                                   {kB, b},
                                   {kBPitch, 8},
                                   {kBType, DataType::kFp32},
                                   {kBScale, 1.0f},
                                   {kType, DataType::kFp32},
                                   {kDestination, 128},
                                   {kPitch, 8},
                                   {kRows, 2},
                                   {kColumns, 2}});
        return core.get<float>(128, 4);
    };
    EXPECT_THAT(subtract(Taken::kA, 0, 64), ElementsAre(-10, -19, -28, -37));
    EXPECT_THAT(subtract(Taken::kB, 64, 0), ElementsAre(10, 19, 28, 37));
    EXPECT_THAT(core.get<float>(0, 4), ElementsAre(1, 2, 3, 4)) << "nothing was stored";
}

TEST(TpuLoop, AReductionTakesWhatIsKept) {
    Core core;
    core.put<float>(0, {1, 2, 3, 4});
    const auto reduce = [&](Axis axis) {
        core.run(Opcode::kReduce, {{kReduction, Reduction::kSum},
                                   {kAxis, axis},
                                   {kTakes, Taken::kA},
                                   {kAType, DataType::kFp32},
                                   {kAScale, 1.0f},
                                   {kType, DataType::kFp32},
                                   {kDestination, 128},
                                   {kPitch, 4},
                                   {kRows, 2},
                                   {kColumns, 2}});
        return core.get<float>(128, 2);
    };
    keep_less_one(core);
    EXPECT_THAT(reduce(Axis::kColumns), ElementsAre(1, 5));
    keep_less_one(core);
    EXPECT_THAT(reduce(Axis::kRows), ElementsAre(2, 4));
    EXPECT_THROW(reduce(Axis::kRows), ProgramFault) << "nothing is kept any more";
}

}  // namespace
}  // namespace lockstep::tpu
