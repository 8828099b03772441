// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/tpu/window_setup.h"

namespace lockstep::tpu {
namespace {

using enum Field;

constexpr VectorParameters kVectorUnit = {
    .lanes = 128, .sublanes = 8, .fixed_function = false, .window_cycles = 7};

Instruction convolve(std::uint64_t first_row, std::uint64_t kernel, std::uint64_t channels = 64) {
    return {Opcode::kConvolve,
            {{kFirstRow, first_row},
             {kRows, 64},
             {kLanes, 128},
             {kChannels, channels},
             {kKernelHeight, kernel},
             {kKernelWidth, kernel},
             {kStrideHeight, 1},
             {kStrideWidth, 1}}};
}

TEST(TpuWindowSetup, MakesARegisterOfRowsAfterTheOther) {
    WindowSetup setup(kVectorUnit);
    EXPECT_EQ(setup.assemble(convolve(0, 3), 100), 156u);
    EXPECT_EQ(setup.assemble(convolve(64, 3), 100), 212u);
}

TEST(TpuWindowSetup, MakesRowsOnceForAllUnitsThatTakeThemTogether) {
    WindowSetup setup(kVectorUnit);
    EXPECT_EQ(setup.assemble(convolve(0, 3), 100), 156u);
    EXPECT_EQ(setup.assemble(convolve(0, 3), 110), 156u);
    EXPECT_EQ(setup.assemble(convolve(0, 3), 1000), 1056u);
}

TEST(TpuWindowSetup, TakesNoTimeForRowsAsTheyLie) {
    WindowSetup setup(kVectorUnit), fixed(VectorParameters{});
    EXPECT_EQ(setup.assemble(convolve(0, 1), 100), 100u);
    // Pixels that fill registers, or are padded to, are loaded from wherever they lie.
    for (const std::uint64_t channels : {65, 128, 192, 256})
        EXPECT_EQ(setup.assemble(convolve(0, 3, channels), 100), 100u) << channels;
    EXPECT_EQ(setup.assemble(convolve(0, 3, 64), 100), 156u);
    // Narrower registers are more.
    VectorParameters narrow = kVectorUnit;
    narrow.lanes = 32;
    EXPECT_EQ(WindowSetup(narrow).assemble(convolve(0, 3, 16), 100), 100u + 4 * 56);
    EXPECT_EQ(setup.assemble(Instruction(Opcode::kMatrixMultiply, {{kRows, 64}}), 100), 100u);
    // Generation 1 slides windows as rows stream.
    EXPECT_EQ(fixed.assemble(convolve(0, 3), 100), 100u);
}

}  // namespace
}  // namespace lockstep::tpu
