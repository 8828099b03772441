// SPDX-License-Identifier: Apache-2.0
// What the output pipeline does by itself: element by element, pooling, softmax, moving.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/numerics/fixed_point.h"
#include "sim/numerics/local_response.h"
#include "tests/isa/npu/semantics/machine.h"

namespace lockstep::npu {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using enum Field;

/// Fields of an input of bytes, pixels and rows close together.
Instruction image(Opcode opcode, std::uint64_t height, std::uint64_t width,
                  std::uint64_t channels) {
    return {opcode,
            {{kHeight, height},
             {kWidth, width},
             {kChannels, channels},
             {kInputPixel, channels},
             {kInputRow, width * channels},
             {kOutput, 0x1000},
             {kOutputPixel, channels},
             {kOutputRow, width * channels}}};
}

/// As an elementwise instruction that neither rescales nor clamps.
Instruction elementwise(std::uint64_t height, std::uint64_t width, std::uint64_t channels) {
    Instruction i = image(Opcode::kElementwise, height, width, channels);
    i.set(kResultMultiplier, 1 << 30);
    i.set(kResultShift, 30);
    i.set(kLow, -128);
    i.set(kHigh, 127);
    return i;
}

TEST(NpuElementwise, AddsAsTensorFlowLite) {
    Machine machine;
    std::mt19937 random(1);
    machine.fill(0, 0x1000, random);
    const numerics::AdditionScales scales = numerics::addition_scales(0.02, 0.035, 0.05);
    Instruction i = elementwise(2, 3, 5);
    i.set(kInputZero, 4);
    i.set(kCombine, Combine::kAdd);
    i.set(kOperand, 0x800);
    i.set(kOperandPixel, 5);
    i.set(kOperandRow, 15);
    i.set(kOperandZero, -7);
    i.set(kRounding, Rounding::kDouble);
    i.set(kLeftShift, numerics::AdditionScales::kBits);
    i.set(kFirst, scales.first.multiplier);
    i.set(kFirstShift, scales.first.shift);
    i.set(kSecond, scales.second.multiplier);
    i.set(kSecondShift, scales.second.shift);
    i.set(kResultMultiplier, scales.sum.multiplier);
    i.set(kResultShift, scales.sum.shift);
    i.set(kOutputZero, 3);
    machine.run(i);
    const auto a = machine.get<std::int8_t>(0, 30), b = machine.get<std::int8_t>(0x800, 30),
               y = machine.get<std::int8_t>(0x1000, 30);
    for (std::size_t n = 0; n < 30; ++n)
        EXPECT_EQ(y[n], numerics::saturate(numerics::add(a[n] - 4, b[n] + 7, false, scales,
                                                         numerics::IntegerRounding::kDouble) +
                                           3));
}

TEST(NpuElementwise, BroadcastsTheOperand) {
    const std::vector<std::int8_t> a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {10, 20, 30, 40};
    const auto sums = [&](Broadcast broadcast) {
        Machine machine;
        machine.put(0, a);
        machine.put(0x800, b);
        Instruction i = elementwise(2, 2, 2);
        i.set(kCombine, Combine::kAdd);
        i.set(kForm, Form::kPair);
        i.set(kFirst, 1 << 30);
        i.set(kSecond, 1 << 30);
        i.set(kFirstShift, 30);
        i.set(kOperand, 0x800);
        i.set(kOperandPixel, 1);
        i.set(kOperandRow, 2);
        i.set(kBroadcast, broadcast);
        machine.run(i);
        return machine.get<std::int8_t>(0x1000, 8);
    };
    EXPECT_THAT(sums(Broadcast::kScalar), ElementsAre(11, 12, 13, 14, 15, 16, 17, 18));
    EXPECT_THAT(sums(Broadcast::kChannel), ElementsAre(11, 22, 13, 24, 15, 26, 17, 28));
    EXPECT_THAT(sums(Broadcast::kPixel), ElementsAre(11, 12, 23, 24, 35, 36, 47, 48));
}

TEST(NpuElementwise, ChangesTheWidthOfValues) {
    Machine machine;
    machine.put(0, std::vector<std::int8_t>{-128, -20, -1, 0, 7, 100, 127});
    Instruction i = elementwise(1, 1, 7);
    i.set(kOutputType, ElementType::kInt4);
    i.set(kResultShift, 34);  // a sixteenth
    i.set(kRounding, Rounding::kEven);
    machine.run(i);
    // -8 -1 0 0 0 6 7 and nothing, the first in the lowest bits.
    EXPECT_THAT(machine.get<std::uint8_t>(0x1000, 4), ElementsAre(0xf8, 0x00, 0x60, 0x07));
    Instruction back = elementwise(1, 1, 7);
    back.set(kInput, 0x1000);
    back.set(kInputType, ElementType::kInt4);
    back.set(kInputPixel, 4);
    back.set(kOutput, 0x2000);
    back.set(kResultShift, 26);
    machine.run(back);
    EXPECT_THAT(machine.get<std::int8_t>(0x2000, 7), ElementsAre(-128, -16, 0, 0, 0, 96, 112));
}

TEST(NpuElementwise, LooksResultsUp) {
    Machine machine;
    machine.put(0, std::vector<std::int8_t>{-128, 0, 127});
    std::vector<std::int8_t> table(256);
    for (int n = 0; n < 256; ++n) table[std::size_t(n)] = static_cast<std::int8_t>(127 - n);
    machine.put(0x800, table);
    Instruction i = elementwise(1, 1, 3);
    i.set(kTableAt, TableAt::kResult);
    i.set(kTable, 0x800);
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 3), ElementsAre(127, -1, -128));
}

TEST(NpuElementwise, Fp32FactorsRoundTiesToEven) {
    Machine machine;
    machine.put(0, std::vector<std::int8_t>{1, 3, 5, -1, -3, -5});
    Instruction i = elementwise(1, 1, 6);
    i.set(kRounding, Rounding::kFp32);
    i.set(kResultMultiplier, static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(0.5f)));
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 6), ElementsAre(0, 2, 2, 0, -2, -2));
}

TEST(NpuPool, MaximaAveragesAndMeansOfWindows) {
    Machine machine;
    machine.put(0, std::vector<std::int8_t>{1, 2, 3, 4, 5, 6, 7, 8, -9});  // 3 x 3
    Instruction i = image(Opcode::kPool, 3, 3, 1);
    i.set(kKernelHeight, 2);
    i.set(kKernelWidth, 2);
    i.set(kStrideHeight, 2);
    i.set(kStrideWidth, 2);
    i.set(kPadTop, 1);
    i.set(kPadLeft, 1);
    i.set(kOutHeight, 2);
    i.set(kOutWidth, 2);
    i.set(kOutputRow, 2);
    i.set(kLow, -128);
    i.set(kHigh, 127);
    i.set(Field::kPool, PoolMode::kMax);
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 4), ElementsAre(1, 3, 7, 8));
    i.set(Field::kPool, PoolMode::kAverage);  // 1; 2.5; 5.5; 3.0
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 4), ElementsAre(1, 3, 6, 3));

    // Means: (sum - count * zero) by a multiplier for each count.
    i.set(Field::kPool, PoolMode::kMean);
    i.set(kInputZero, 1);
    i.set(kOutputZero, 10);
    i.set(kParameters, 0x400);
    i.set(kRounding, Rounding::kAway);
    machine.put(0x400, std::vector<std::int32_t>{1 << 30, 1 << 30, 1 << 30, 1 << 30});
    machine.put(0x410, std::vector<std::uint8_t>{30, 31, 32, 32});  // 1, 1/2, 1/4 and 1/4
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 4), ElementsAre(10, 12, 15, 12));
    machine.put(0x410, std::vector<std::uint8_t>{30, 0, 32, 32});
    EXPECT_THROW(machine.run(i), ProgramFault);
}

TEST(NpuReduce, JoinsTheChannels) {
    Machine machine;
    machine.put(0, std::vector<std::int8_t>{1, 5, -3, 100, 100, 100});
    Instruction i = image(Opcode::kReduce, 1, 2, 3);
    i.set(kOutputPixel, 1);
    i.set(kResultMultiplier, 1 << 30);
    i.set(kResultShift, 30);
    i.set(kLow, -128);
    i.set(kHigh, 127);
    i.set(kReduction, Reduction::kSum);
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 2), ElementsAre(3, 127));
    i.set(kReduction, Reduction::kMin);
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 2), ElementsAre(-3, 100));
    i.set(kReduction, Reduction::kMax);
    i.set(kOutputType, ElementType::kInt32);
    i.set(kOutputPixel, 4);
    machine.run(i);
    EXPECT_THAT(machine.get<std::int32_t>(0x1000, 2), ElementsAre(5, 100));
}

TEST(NpuSoftmax, IsTensorFlowLites) {
    Machine machine;
    std::mt19937 random(7);
    machine.fill(0, 40, random);
    const numerics::SoftmaxScale scale = numerics::softmax_scale(0.06);
    Instruction i = image(Opcode::kSoftmax, 1, 4, 10);
    i.set(kMultiplier, scale.multiplier);
    i.set(kLeftShift, scale.left_shift);
    i.set(kDifferenceMin, scale.least);
    i.set(kOutputZero, -128);
    machine.run(i);
    for (std::uint64_t row = 0; row < 4; ++row) {
        const auto x = machine.get<std::int8_t>(10 * row, 10);
        std::vector<std::int8_t> expected(10);
        numerics::softmax_row<std::int8_t>(x, expected, scale);
        const auto y = machine.get<std::int8_t>(0x1000 + 10 * row, 10);
        EXPECT_THAT(y, ElementsAreArray(expected));
        double total = 0;
        for (const std::int8_t value : y) total += (value + 128) / 256.0;
        EXPECT_NEAR(total, 1, 0.03);
    }
}

TEST(NpuResize, TakesTheNearestOrAllFour) {
    Machine machine;
    machine.put(0, std::vector<std::int8_t>{0, 100, -100, 40});  // 2 x 2
    Instruction i = image(Opcode::kResize, 2, 2, 1);
    i.set(kOutHeight, 4);
    i.set(kOutWidth, 4);
    i.set(kOutputRow, 4);
    machine.run(i);
    EXPECT_THAT(
        machine.get<std::int8_t>(0x1000, 16),
        ElementsAre(0, 0, 100, 100, 0, 0, 100, 100, -100, -100, 40, 40, -100, -100, 40, 40));
    i.set(kInterpolation, Interpolation::kBilinear);
    machine.run(i);
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 8), ElementsAre(0, 50, 100, 100, -50, 10, 70, 70));
    i.set(kInterpolation, Interpolation::kBilinearCorners);
    machine.run(i);
    const auto corners = machine.get<std::int8_t>(0x1000, 16);
    EXPECT_EQ(corners[0], 0);
    EXPECT_EQ(corners[3], 100);
    EXPECT_EQ(corners[12], -100);
    EXPECT_EQ(corners[15], 40);
}

TEST(NpuCopy, TransposesAndFills) {
    Machine machine;
    std::vector<std::uint8_t> values(24);
    std::iota(values.begin(), values.end(), std::uint8_t{0});
    machine.put(0, values);
    // 2 x 3 pixels of 4 channels to 4 planes of 2 x 3.
    machine.run(Opcode::kCopy, {{kDestination, 0x100},
                                {kRowBytes, 1},
                                {kRows, 6},
                                {kPlanes, 4},
                                {kSourcePitch, 4},
                                {kSourcePlane, 1},
                                {kDestinationPitch, 1},
                                {kDestinationPlane, 6}});
    const auto moved = machine.get<std::uint8_t>(0x100, 24);
    for (std::size_t plane = 0; plane < 4; ++plane)
        for (std::size_t pixel = 0; pixel < 6; ++pixel)
            EXPECT_EQ(moved[6 * plane + pixel], values[4 * pixel + plane]);
    machine.run(Opcode::kFill, {{kDestination, 0x100},
                                {kRowBytes, 2},
                                {kRows, 3},
                                {kPlanes, 1},
                                {kDestinationPitch, 4},
                                {kValue, 0x80}});
    EXPECT_THAT(machine.get<std::uint8_t>(0x100, 6),
                ElementsAre(0x80, 0x80, moved[2], moved[3], 0x80, 0x80));
}

TEST(NpuTransfer, MovesPlanesOfRowsBetweenMemoryAndSram) {
    Program program;
    program.buffers.push_back(
        {.name = "memory", .space = Space::kMemory, .bytes = 256, .address = 0x40});
    Machine machine({.sram = 4096, .outputs = 8}, program);
    const auto memory = machine.storage.contents(0);
    std::iota(memory.begin(), memory.end(), std::uint8_t{0});
    machine.run(Opcode::kLoad, {{kMemory, 0x40},
                                {kDestination, 0},
                                {kRowBytes, 3},
                                {kRows, 2},
                                {kPlanes, 2},
                                {kSourcePitch, 10},
                                {kSourcePlane, 100},
                                {kDestinationPitch, 3},
                                {kDestinationPlane, 6}});
    EXPECT_THAT(machine.get<std::uint8_t>(0, 12),
                ElementsAre(0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112));
    machine.run(Opcode::kStore, {{kSource, 0},
                                 {kMemory, 0x40 + 200},
                                 {kRowBytes, 1},
                                 {kRows, 4},
                                 {kPlanes, 1},
                                 {kSourcePitch, 3},
                                 {kDestinationPitch, 2}});
    EXPECT_EQ(memory[200], 0);
    EXPECT_EQ(memory[202], 10);
    EXPECT_EQ(memory[204], 100);
    EXPECT_EQ(memory[206], 110);
    EXPECT_THROW(machine.run(Opcode::kLoad,
                             {{kMemory, 0x40 + 250}, {kRowBytes, 7}, {kRows, 1}, {kPlanes, 1}}),
                 InputError);
}

TEST(NpuOperands, WhatIsWrongIsNamed) {
    Instruction i = elementwise(2, 2, 2);
    EXPECT_EQ(check_operands(i), "");
    i.set(kOutputPixel, 1);
    EXPECT_EQ(check_operands(i), "pixels of the result overlap: 1 bytes apart, 2 long");
    i.set(kOutputPixel, 2);
    i.set(kOutputRow, 3);
    EXPECT_EQ(check_operands(i), "rows of the result overlap: 3 bytes apart, 4 long");
    i.set(kOutputRow, 4);
    i.set(kResultShift, 0);
    EXPECT_EQ(check_operands(i), "result_shift is 0, not 1 to 62");
    EXPECT_EQ(check_operands(Instruction(Opcode::kConvolve)), "an input without values");
}

/// As a local response normalisation over five channels with the table of f(sum) = 1 / (1 + sum).
Instruction local_response(Machine& machine, std::uint64_t channels) {
    Instruction i = image(Opcode::kLocalResponse, 2, 2, channels);
    const numerics::LocalResponseTable table = numerics::local_response_table(1, 1, 1);
    machine.put(0x800, std::vector<std::uint16_t>(table.entries.begin(), table.entries.end()));
    const numerics::FixedPointScale scale = numerics::fixed_point_scale(100 * table.step);
    i.set(kParameters, 0x800);
    i.set(kBefore, 2);
    i.set(kAfter, 2);
    i.set(kResultMultiplier, scale.multiplier);
    i.set(kResultShift, scale.shift);
    i.set(kLow, -128);
    i.set(kHigh, 127);
    return i;
}

constexpr CoreLimits kWithLocalResponse = {
    .sram = 1 << 18, .cores = 1, .outputs = 8, .local_response = true};

TEST(NpuLocalResponse, DividesByTheSquaresOfNeighbours) {
    Machine machine(kWithLocalResponse);
    // One pixel 4 0 0 2 0 0 0, others zero; the zero point is 1.
    std::vector<std::int8_t> x(28, 1);
    x[0] = 5;
    x[3] = 3;
    machine.put(0, x);
    Instruction i = local_response(machine, 7);
    i.set(kInputZero, 1);
    i.set(kOutputZero, -3);
    machine.run(i);
    // 100 * 4 / (1 + 16) and 100 * 2 / (1 + 4): channel 3 does not see channel 0.
    EXPECT_THAT(machine.get<std::int8_t>(0x1000, 7),
                ElementsAre(24 - 3, -3, -3, 40 - 3, -3, -3, -3));
    EXPECT_THAT(machine.get<std::int8_t>(0x1007, 21), Each(-3));
}

TEST(NpuLocalResponse, NeedsItsUnitAndBytes) {
    Machine with(kWithLocalResponse), without;
    EXPECT_THROW(without.run(local_response(without, 8)), InputError);
    Instruction wide = local_response(with, 8);
    wide.set(kInputType, ElementType::kInt16);
    EXPECT_THROW(with.run(wide), InputError);
    Instruction no_shift = local_response(with, 8);
    no_shift.set(kResultShift, 0);
    EXPECT_THROW(with.run(no_shift), InputError);
}

}  // namespace
}  // namespace lockstep::npu
