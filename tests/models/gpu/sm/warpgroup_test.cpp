// SPDX-License-Identifier: Apache-2.0
// What the products of warpgroups take, on hand-made sequences. All descriptors are zero: every
// operand lies at the beginning of shared memory, which costs what any other place does.
#include <gtest/gtest.h>

#include "sm_fixture.h"

namespace lockstep::gpu {
namespace {

constexpr unsigned kNoGroup = 7;

/// HGMMA.64xNx16.F32 R24, .., R24 of fp16.
sass::Word hgmma(unsigned columns, bool a_in_registers = false, bool closes_group = false,
                 bool is_sparse = false) {
    sass::Word word{.lo = a_in_registers ? 0x7df0u : 0x79f0u, .hi = 0};
    word.set_bits(16, 8, 24);
    word.set_bits(64, 8, 24);
    if (a_in_registers) word.set_bits(24, 8, 8);
    word.set_bits(53, 5, columns / 8 - 1);
    word.set_bits(59, 1, is_sparse);
    word.set_bits(73, 1, is_sparse);
    if (is_sparse) word.set_bits(40, 8, 12);
    word.set_bits(75, 1, 1);
    word.set_bits(84, 3, closes_group ? 0 : kNoGroup);
    word.set_bits(91, 1, 1);
    word.set_bits(105, 4, 3);
    word.set_bits(109, 1, 1);
    word.set_bits(110, 6, 0x3f);
    return word;
}

/// WARPGROUP.DEPBAR.LE gsb0, `groups`
sass::Word wait_for(unsigned groups) {
    sass::Word word{.lo = 0x00008000000079c5, .hi = 0x000fe40000010000};
    word.set_bits(72, 3, groups);
    return word;
}

constexpr unsigned kWarps = 4;

TEST(Warpgroups, AProductTakesHalfACycleAColumn) {
    SmFixture sm;
    for (const unsigned columns : {64u, 128u, 256u})
        EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(columns)}, 32, kWarps), columns / 2) << columns;
    for (const unsigned columns : {32u, 64u, 256u})
        EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(columns, true)}, 32, kWarps), columns / 2)
            << columns;
}

TEST(Warpgroups, ReadingAAndBFromSharedMemoryLimitsSmallAndSparseProducts) {
    SmFixture sm;
    // 2 KiB of A and 256 bytes of B for every eight columns, at 128 bytes a cycle.
    EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(8)}, 32, kWarps), 16 + 2);
    EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(32)}, 32, kWarps), 16 + 8);
    // Measured on H800: 144 cycles, with A in registers 128 (Luo et al.).
    EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(256, false, false, true)}, 32, kWarps), 144);
    EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(256, true, false, true)}, 32, kWarps), 128);
}

TEST(Warpgroups, OthersUseSharedMemoryMeanwhile) {
    SmFixture sm;
    std::vector<sass::Word> both = {hgmma(64)}, loads;
    for (unsigned i = 0; i < 16; ++i) loads.push_back(lds(4, 255, {.stall = 1}));
    both.insert(both.end(), loads.begin(), loads.end());
    const double alone = sm.cycles_each(loads, 16, kWarps);
    EXPECT_NEAR(sm.cycles_each(both, 16, kWarps), alone + 32, 3);
    // With A in registers B takes 16 cycles of the data stage.
    both[0] = hgmma(64, true);
    EXPECT_NEAR(sm.cycles_each(both, 16, kWarps), alone + 16, 3);
}

// Measured: a product holds issue for 4 cycles (H200), whatever its columns.
TEST(Warpgroups, OthersIssueWhileSumsAreReadAndWritten) {
    SmFixture sm;
    std::vector<sass::Word> both = {hgmma(64)};
    for (unsigned i = 0; i < 24; ++i) both.push_back(ffma(4, 5, 6, 255, {.stall = 1}));
    EXPECT_LT(sm.cycles_each(both, 16, kWarps), 33);
}

TEST(Warpgroups, AWaitEndsWithTheLastProductOfItsGroup) {
    SmFixture sm;
    const double pair = sm.cycles_each({hgmma(64, false, true), wait_for(0)}, 16, kWarps);
    EXPECT_NEAR(pair, 32 + 43, 3);  // measured: 43 cycles and the product's own (H200)
    // Products before it in the group are done then too.
    EXPECT_DOUBLE_EQ(
        sm.cycles_each({hgmma(64), hgmma(64), hgmma(64, false, true), wait_for(0)}, 16, kWarps),
        pair + 2 * 32);
    // One group may go on: products follow each other without a gap.
    EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(256, false, true), wait_for(1)}, 16, kWarps), 128);
}

TEST(Warpgroups, TwoShareTheTensorCores) {
    SmFixture sm;
    EXPECT_DOUBLE_EQ(sm.cycles_each({hgmma(64)}, 32, 2 * kWarps), 2 * 32);
}

TEST(Warpgroups, AreCounted) {
    SmFixture sm;
    const KernelCounters counters = sm.run({hgmma(64), hgmma(64, false, true), wait_for(0)}, 4);
    EXPECT_EQ(counters.sm.gmma, 8u);
    EXPECT_EQ(counters.sm.tensor_operations, 2u * 64 * 64 * 16);
    EXPECT_EQ(counters.sm.pipe_busy[static_cast<unsigned>(Pipe::kTensor)], 2u * 4 * 32);
    EXPECT_GT(counters.sm.warp_cycles[static_cast<unsigned>(WarpState::kGmma)], 4u * 60);
}

}  // namespace
}  // namespace lockstep::gpu
