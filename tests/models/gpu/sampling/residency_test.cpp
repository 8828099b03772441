// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/residency.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

constexpr std::uint64_t kLine = 128;

TEST(Residency, HoldsWhatWasUsedLastAsFarAsItFits) {
    Residency residency(10 * kLine);
    const MemoryRange a{0, 4 * kLine}, b{100 * kLine, 4 * kLine}, c{200 * kLine, 4 * kLine};
    residency.use(std::vector{a, b});
    EXPECT_TRUE(residency.lines().holds(0));
    EXPECT_TRUE(residency.lines().holds(103));
    EXPECT_FALSE(residency.lines().holds(104));
    residency.use(std::vector{c});
    EXPECT_FALSE(residency.lines().holds(0));
    EXPECT_EQ(residency.text_of(std::vector{a, b, c}), "cww");
    residency.use(std::vector{b, a});
    EXPECT_EQ(residency.text_of(std::vector{a, b, c}), "wwc");
    residency.forget();
    EXPECT_TRUE(residency.lines().empty());
}

TEST(Residency, ARangeLargerThanTheCacheLeavesNothing) {
    Residency residency(10 * kLine);
    residency.use(std::vector<MemoryRange>{{0, 2 * kLine}, {kLine, 20 * kLine}});
    EXPECT_TRUE(residency.lines().empty());
}

TEST(ResidentLines, RangesMayOverlap) {
    const ResidentLines lines({{10, 20}, {15, 30}, {40, 41}});
    for (const std::uint64_t line : {10u, 29u, 40u}) EXPECT_TRUE(lines.holds(line)) << line;
    for (const std::uint64_t line : {9u, 30u, 39u, 41u}) EXPECT_FALSE(lines.holds(line)) << line;
}

TEST(ResidentLines, WhatIsCopiedIsInBothPartitions) {
    Residency residency(10 * kLine);
    residency.use(std::vector<MemoryRange>{{0, 2 * kLine}});
    const ResidentLines lines = residency.lines({{50, 52}});
    for (const std::uint64_t line : {0u, 1u, 50u, 51u}) EXPECT_TRUE(lines.holds(line)) << line;
    for (const std::uint64_t line : {0u, 1u, 52u}) EXPECT_FALSE(lines.holds_copy(line)) << line;
    for (const std::uint64_t line : {50u, 51u}) EXPECT_TRUE(lines.holds_copy(line)) << line;
}

}  // namespace
}  // namespace lockstep::gpu
