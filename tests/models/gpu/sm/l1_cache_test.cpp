// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/l1_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "models/gpu/sm/line_table.h"
#include "models/gpu/sm/tlb.h"

namespace lockstep::gpu {

namespace {

constexpr auto kNormal = EvictionPriority::kNormal;

TEST(L1Cache, SectorsAreValidByThemselves) {
    L1Cache cache(64, 4, ReplacementPolicy::kLru);
    EXPECT_EQ(cache.look_up(5), 0);
    cache.fill(5, 0b0010, kNormal);
    EXPECT_EQ(cache.look_up(5), 0b0010);
    cache.fill(5, 0b1000, kNormal);
    EXPECT_EQ(cache.look_up(5), 0b1010);
    cache.invalidate(5, 0b0010);
    EXPECT_EQ(cache.look_up(5), 0b1000);
    cache.clear();
    EXPECT_EQ(cache.look_up(5), 0);
}

TEST(L1Cache, LeastRecentlyUsedLeaves) {
    L1Cache cache(8, 2, ReplacementPolicy::kLru);  // four ways
    for (std::uint64_t line : {0, 2, 4, 6}) cache.fill(line, 1, kNormal);
    cache.look_up(0);
    cache.fill(8, 1, kNormal);
    EXPECT_EQ(cache.look_up(2), 0);
    for (std::uint64_t line : {0, 4, 6, 8}) EXPECT_EQ(cache.look_up(line), 1) << line;
}

// Lines that are used in turn, a few more than there is room for: LRU throws each away just before
// it is needed again.
TEST(L1Cache, RandomReplacementKeepsAPartOfALoopThatDoesNotFit) {
    for (const auto& [replacement, least, most] :
         {std::tuple{ReplacementPolicy::kLru, 0, 0},
          std::tuple{ReplacementPolicy::kRandom, 40, 95}}) {
        L1Cache cache(256, 4, replacement);
        int hits = 0;
        for (int turn = 0; turn < 10; ++turn) {
            for (std::uint64_t line = 0; line < 272; ++line) {
                hits += cache.look_up(line) != 0;
                cache.fill(line, 1, kNormal);
            }
        }
        EXPECT_GE(hits * 100 / 2720, least);
        EXPECT_LE(hits * 100 / 2720, most);
    }
}

TEST(L1Cache, RandomReplacementStartsAlikeAndHeedsPriorities) {
    L1Cache a(8, 1, ReplacementPolicy::kRandom), b(8, 1, ReplacementPolicy::kRandom);
    for (std::uint64_t line = 0; line < 20; ++line) {
        a.fill(line, 1, kNormal);
        b.fill(line, 1, kNormal);
    }
    for (std::uint64_t line = 0; line < 20; ++line) EXPECT_EQ(a.held(line), b.held(line));
    a.fill(100, 1, EvictionPriority::kFirst);
    a.fill(101, 1, kNormal);
    EXPECT_EQ(a.held(100), 0);
}

TEST(L1Cache, AllLinesThatLeaveFirstMakeRoomBeforeOthers) {
    for (const ReplacementPolicy replacement :
         {ReplacementPolicy::kLru, ReplacementPolicy::kFifo, ReplacementPolicy::kRandom,
          ReplacementPolicy::kTreePlru}) {
        L1Cache cache(8, 1, replacement);
        for (const std::uint64_t line : {0, 1, 2}) cache.fill(line, 1, EvictionPriority::kFirst);
        for (const std::uint64_t line : {3, 4, 5, 6, 7}) cache.fill(line, 1, kNormal);
        for (const std::uint64_t line : {8, 9, 10}) cache.fill(line, 1, kNormal);
        for (const std::uint64_t line : {0, 1, 2}) EXPECT_EQ(cache.held(line), 0) << line;
        for (std::uint64_t line = 3; line <= 10; ++line) EXPECT_EQ(cache.held(line), 1) << line;
    }
}

TEST(L1Cache, AUseSavesALineFromLruAndNotFromFifo) {
    for (const bool is_lru : {true, false}) {
        L1Cache cache(4, 1, is_lru ? ReplacementPolicy::kLru : ReplacementPolicy::kFifo);
        for (std::uint64_t line : {0, 1, 2, 3}) cache.fill(line, 1, kNormal);
        cache.look_up(0);
        cache.fill(4, 1, kNormal);
        EXPECT_EQ(cache.held(0), is_lru);
        EXPECT_EQ(cache.held(1), !is_lru);
    }
}

TEST(L1Cache, ATreeKeepsWhatWasUsedLastAndUsesAllWays) {
    L1Cache cache(4 * 116, 4, ReplacementPolicy::kTreePlru);  // no power of two
    for (std::uint64_t line = 0; line < 464; ++line) cache.fill(line, 1, kNormal);
    for (std::uint64_t line = 0; line < 464; ++line) ASSERT_EQ(cache.held(line), 1) << line;
    for (std::uint64_t line = 464; line < 4000; ++line) {
        cache.look_up(0);
        cache.fill(line, 1, kNormal);
    }
    EXPECT_EQ(cache.held(0), 1);
    cache.fill(9000, 1, EvictionPriority::kFirst);
    cache.fill(9004, 1, kNormal);
    EXPECT_EQ(cache.held(9000), 0);
}

TEST(L1Cache, AnIdealOneHoldsEveryLine) {
    L1Cache cache(0, 4, ReplacementPolicy::kLru, true);
    EXPECT_EQ(cache.look_up(1 << 20), 0xf);
    EXPECT_EQ(cache.held(7), 0xf);
}

TEST(L1Cache, EvictionPriorities) {
    L1Cache cache(4, 1, ReplacementPolicy::kLru);
    for (std::uint64_t line : {0, 1, 2}) cache.fill(line, 1, kNormal);
    cache.fill(3, 1, EvictionPriority::kFirst);
    cache.fill(4, 1, kNormal);
    EXPECT_EQ(cache.look_up(3), 0);
    EXPECT_EQ(cache.look_up(0), 1);
    cache.fill(5, 1, EvictionPriority::kNoAllocate);
    EXPECT_EQ(cache.look_up(5), 0);
}

TEST(L1Cache, NoCacheAtAll) {
    L1Cache cache(0, 4, ReplacementPolicy::kLru);
    cache.fill(1, 1, kNormal);
    EXPECT_EQ(cache.look_up(1), 0);
}

TEST(L1Cache, AgreesWithLists) {
    constexpr unsigned kSets = 4, kWays = 16;
    L1Cache cache(kSets * kWays, kSets, ReplacementPolicy::kLru);
    std::list<std::uint64_t> sets[kSets];
    std::mt19937 random(3);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t line = random() % 150 * 1000003;
        auto& set = sets[line % kSets];
        const auto at = std::find(set.begin(), set.end(), line);
        const bool hit = at != set.end();
        ASSERT_EQ(cache.look_up(line) != 0, hit);
        if (hit) {
            set.splice(set.begin(), set, at);
        } else {
            cache.fill(line, 1, kNormal);
            set.push_front(line);
            if (set.size() > kWays) set.pop_back();
        }
    }
}

TEST(LineTable, AgreesWithMap) {
    LineTable table(100);
    std::map<std::uint64_t, std::uint32_t> expected;
    std::vector<std::uint64_t> line_of(20000);
    const auto lines = [&](std::uint32_t place) { return line_of[place]; };
    std::mt19937 random(4);
    for (std::uint32_t i = 0; i < line_of.size(); ++i) {
        // Half of the lines differ above bit 32 alone.
        const std::uint64_t line = random() % 200 + (std::uint64_t{random() % 2} << 40);
        if (expected.contains(line)) {
            ASSERT_EQ(table.find(line, lines), expected[line]);
            table.erase(line, expected[line]);
            expected.erase(line);
        } else if (expected.size() < 100) {
            ASSERT_EQ(table.find(line, lines), LineTable::kNone);
            line_of[i] = line;
            table.insert(line, i);
            expected[line] = i;
        }
    }
    for (const auto& [line, place] : expected) EXPECT_EQ(table.find(line, lines), place);
}

TEST(Tlb, HoldsTheLastPages) {
    Tlb tlb(2, 4096);  // 32 lines a page
    EXPECT_FALSE(tlb.look_up(0));
    EXPECT_FALSE(tlb.look_up(0));
    tlb.fill(0);
    EXPECT_TRUE(tlb.look_up(31));
    EXPECT_FALSE(tlb.look_up(32));
    tlb.fill(32);
    EXPECT_TRUE(tlb.look_up(0));
    tlb.fill(64);
    EXPECT_FALSE(tlb.look_up(32));
    EXPECT_TRUE(tlb.look_up(0));
    EXPECT_TRUE(tlb.look_up(64));
}

TEST(Tlb, AnIdealOneKnowsEveryPage) {
    Tlb tlb(0, 4096, TlbStart::kIdeal);
    EXPECT_TRUE(tlb.look_up(1 << 20));
}

TEST(Tlb, AWarmOneKnowsTheFirstPagesThatItHasRoomFor) {
    Tlb tlb(2, 4096, TlbStart::kWarm);
    EXPECT_TRUE(tlb.look_up(0));
    EXPECT_TRUE(tlb.look_up(64));
    EXPECT_FALSE(tlb.look_up(32));
    tlb.fill(32);
    EXPECT_TRUE(tlb.look_up(64));
    EXPECT_FALSE(tlb.look_up(0));
}

}  // namespace

}  // namespace lockstep::gpu
