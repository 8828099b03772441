// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/part.h"

#include <gtest/gtest.h>

#include <set>

#include "models/gpu/memory/memory_parameters.h"

namespace lockstep::gpu {
namespace {

TEST(Part, TakesItsShareOfWhatSmsShareOnEveryCard) {
    for (const auto& [name, arch] : config::Machine::gpus()) {
        const auto whole = config::Machine::load(name);
        const auto count = static_cast<std::uint32_t>(whole->integer("sm.count"));
        const std::uint32_t sms = part_sms(count);
        ASSERT_GE(sms, 8u) << name;
        const auto part = part_of(*whole, sms);
        const double share = double(sms) / count;
        const auto of = [&](const char* path) { return part->number(path) / whole->number(path); };
        EXPECT_EQ(part->integer("sm.count"), sms) << name;
        EXPECT_NEAR(of("dram.bandwidth"), share, 1e-9) << name;
        EXPECT_NEAR(of("l2.slice_bandwidth") * of("l2.slices"), share, 1e-9) << name;
        EXPECT_NEAR(of("l2.size") / of("l2.slices"), 1, 1e-2) << name;
        EXPECT_EQ(of("memory_unit.l1_hit_latency"), 1) << name;
        EXPECT_NO_THROW(MemoryParameters::of(*part)) << name;
    }
}

TEST(Part, KeepsWhatTheUserHasSet) {
    const auto whole = config::Machine::load("a100", {"l2.hit_latency=300", "sm.count=44"});
    const auto part = part_of(*whole, part_sms(44));
    EXPECT_EQ(part->integer("l2.hit_latency"), 300);
    EXPECT_EQ(part->integer("sm.count"), 8);
    EXPECT_EQ(part_sms(15), 0u);
}

TEST(Part, GivesTheBusiestSmAsManyCtas) {
    EXPECT_EQ(share_of(132, 132, 12), 12u);
    EXPECT_EQ(share_of(133, 132, 12), 13u);  // one SM has two
    EXPECT_EQ(share_of(260, 132, 12), 24u);
    EXPECT_EQ(share_of(265, 132, 12), 25u);
    EXPECT_EQ(share_of(20, 132, 12), 2u);
    EXPECT_EQ(share_of(1, 132, 12), 1u);
}

TEST(Part, CutsAGridWhereItIsLongest) {
    EXPECT_EQ(block_of({2, 100, 1}, 6), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(block_of({10, 2, 1}, 4), (std::vector<std::uint64_t>{0, 1, 10, 11}));
    // Batches first: of each all tiles.
    EXPECT_EQ(block_of({2, 2, 8}, 5), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
    for (const std::uint64_t ctas : {1u, 7u, 30u, 120u}) {
        const std::vector<std::uint64_t> block = block_of({5, 6, 4}, ctas);
        EXPECT_EQ(block.size(), ctas);
        EXPECT_EQ(std::set(block.begin(), block.end()).size(), ctas);
        EXPECT_LT(*std::max_element(block.begin(), block.end()), 120u);
    }
}

TEST(Part, LaterBlocksHaveOtherCtasOfTheSameShape) {
    EXPECT_EQ(block_of({10, 2, 1}, 4, 1), (std::vector<std::uint64_t>{2, 3, 12, 13}));
    EXPECT_EQ(block_of({2, 2, 8}, 5, 3), (std::vector<std::uint64_t>{24, 25, 26, 27, 28}));
    EXPECT_TRUE(block_of({10, 2, 1}, 4, 5).empty());
    EXPECT_TRUE(block_of({10, 1, 1}, 10, 1).empty());
    std::set<std::uint64_t> seen;
    for (std::uint64_t number = 0; number < 5; ++number)
        for (const std::uint64_t cta : block_of({7, 5, 3}, 7, number))
            EXPECT_TRUE(seen.insert(cta).second) << number << " " << cta;
}

}  // namespace
}  // namespace lockstep::gpu
