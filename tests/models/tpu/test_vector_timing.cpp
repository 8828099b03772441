// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/tpu/vector_timing.h"
#include "sim/config/machine.h"

namespace lockstep::tpu {
namespace {

using enum Field;

VectorTime time(const std::string& machine, Opcode opcode, Instruction::Fields fields) {
    return vector_time(Instruction(opcode, fields),
                       Parameters(*config::Machine::load(machine)).vector);
}

std::uint64_t cycles(const std::string& machine, Opcode opcode, Instruction::Fields fields) {
    return time(machine, opcode, std::move(fields)).issue;
}

TEST(TpuVectorTiming, TheActivationPipelineTakesARowACycle) {
    EXPECT_EQ(cycles("tpu_v1", Opcode::kActivate,
                     {{kRows, 200}, {kColumns, 256}, {kFunction, Function::kTanh}}),
              200u);
    EXPECT_EQ(cycles("tpu_v1", Opcode::kVector,
                     {{kRows, 10}, {kColumns, 257}, {kFunction, Function::kAdd}}),
              20u);
    EXPECT_EQ(cycles("tpu_v1", Opcode::kActivate,
                     {{kRows, 200}, {kColumns, 256}, {kType, DataType::kInt16}}),
              400u);
    EXPECT_EQ(cycles("tpu_v1", Opcode::kVector,
                     {{kRows, 10}, {kColumns, 256}, {kAType, DataType::kFp32}}),
              40u);
    // 3x3 windows with a step of 2 on a 112x112 image: the image passes once.
    EXPECT_EQ(cycles("tpu_v1", Opcode::kPool,
                     {{kRows, 56 * 56},
                      {kColumns, 64},
                      {kHeight, 112},
                      {kWidth, 112},
                      {kOutHeight, 56},
                      {kOutWidth, 56},
                      {kKernelHeight, 3},
                      {kKernelWidth, 3}}),
              112u * 112);
}

TEST(TpuVectorTiming, RegistersTakeTheirBusiestSlots) {
    const DataType fp32 = DataType::kFp32;
    const auto vector = [&](Function function, Broadcast broadcast, DataType type) {
        return cycles("tpu_v3", Opcode::kVector,
                      {{kRows, 64},
                       {kColumns, 256},
                       {kFunction, function},
                       {kBroadcast, broadcast},
                       {kAType, type},
                       {kBType, type},
                       {kType, fp32}});
    };
    // 16 registers; one load and one store slot, two ALU slots.
    EXPECT_EQ(vector(Function::kRelu, Broadcast::kNone, fp32), 16u);
    EXPECT_EQ(vector(Function::kAdd, Broadcast::kNone, fp32), 32u);  // two loads
    EXPECT_EQ(vector(Function::kAdd, Broadcast::kRow, fp32), 16u);
    EXPECT_EQ(vector(Function::kExp, Broadcast::kNone, fp32), 64u);  // eight operations
    EXPECT_EQ(vector(Function::kAdd, Broadcast::kNone, DataType::kBf16), 32u);
}

TEST(TpuVectorTiming, LoopsEndEachRoundWithACycle) {
    const auto relu = [&](std::uint64_t rows) {
        return cycles("tpu_v6e", Opcode::kVector,
                      {{kRows, rows},
                       {kColumns, 128},
                       {kFunction, Function::kRelu},
                       {kAType, DataType::kFp32},
                       {kType, DataType::kFp32}});
    };
    // A register of eight rows takes half a cycle of two store slots.
    EXPECT_EQ(relu(7 * 8), 4u);
    EXPECT_EQ(relu(64 * 8), 32u + 8);
}

TEST(TpuVectorTiming, ReductionsOfRowsWaitForTheLanes) {
    const auto reduce = [&](Axis axis) {
        return time("tpu_v3", Opcode::kReduce,
                    {{kReduction, Reduction::kSum},
                     {kAxis, axis},
                     {kRows, 64},
                     {kColumns, 256},
                     {kAType, DataType::kFp32},
                     {kType, DataType::kFp32}});
    };
    EXPECT_EQ(reduce(Axis::kColumns).issue, 16u);
    EXPECT_EQ(reduce(Axis::kColumns).cross_lane, 8u * 8);
    EXPECT_EQ(reduce(Axis::kRows).issue, 16u + 3);
    EXPECT_EQ(reduce(Axis::kRows).cross_lane, 0u);
}

TEST(TpuVectorTiming, ALoopLoadsAndStoresOnce) {
    const VectorParameters v3 = Parameters(*config::Machine::load("tpu_v3")).vector;
    const auto relu = [](Taken takes, bool keeps) {
        return Instruction(Opcode::kVector, {{kRows, 64},
                                             {kColumns, 256},
                                             {kFunction, Function::kRelu},
                                             {kTakes, takes},
                                             {kKeeps, keeps},
                                             {kAType, DataType::kFp32},
                                             {kType, DataType::kFp32}});
    };
    // 16 registers; two ALU slots. A load, a store and two operations are a cycle each.
    VectorWork before = vector_work(relu(Taken::kNone, true), v3);
    const Instruction last = relu(Taken::kA, false);
    EXPECT_EQ(vector_time(last, v3, before).issue, 16u);
    before += vector_work(relu(Taken::kA, true), v3);
    EXPECT_EQ(vector_time(last, v3, before).issue, 24u) << "three operations";
    EXPECT_EQ(vector_time(relu(Taken::kNone, false), v3).issue, 16u);
}

TEST(TpuVectorTiming, TheSignOfAPowerCostsNothing) {
    const auto power = [&](Function first) {
        return cycles("tpu_v3", Opcode::kVector,
                      {{kRows, 64},
                       {kColumns, 256},
                       {kFunction, first},
                       {kThen, Function::kExp},
                       {kAType, DataType::kFp32},
                       {kType, DataType::kFp32}});
    };
    EXPECT_EQ(power(Function::kNegate), power(Function::kIdentity));
    EXPECT_GT(power(Function::kAbs), power(Function::kIdentity));
}

}  // namespace
}  // namespace lockstep::tpu
