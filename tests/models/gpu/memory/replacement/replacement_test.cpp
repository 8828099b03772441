// SPDX-License-Identifier: Apache-2.0
// The effects that replacement policies are known for, in the tags of the L1 and of L2.
#include "models/gpu/memory/replacement/replacement.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/gpu/memory/l2_tags.h"

namespace lockstep::gpu {
namespace {

using enum ReplacementPolicy;

/// One set of L2.
class Set {
  public:
    Set(ReplacementPolicy policy, std::uint32_t ways) : tags_(1, ways, policy) {}

    /// True where the line was there; else it is brought, with an eviction rank.
    bool use(std::uint32_t line, unsigned rank = 1) {
        const std::uint32_t key = L2Tags::key(line, 0);
        std::uint32_t slot = tags_.find(0, key);
        const bool hit = slot != L2Tags::kNone;
        if (!hit) {
            slot = tags_.victim(0, false);
            tags_.place(slot, key);
            tags_.line(slot).rank = rank & 3;
        }
        tags_.touch(slot);
        return hit;
    }
    bool holds(std::uint32_t line) const {
        return tags_.find(0, L2Tags::key(line, 0)) != L2Tags::kNone;
    }
    L2Tags& tags() { return tags_; }

  private:
    L2Tags tags_;
};

/// Hits of a ring of lines, gone through ten times.
int hits_of_ring(ReplacementPolicy policy, std::uint32_t ways, std::uint32_t lines) {
    Set set(policy, ways);
    int hits = 0;
    for (int round = 0; round < 10; ++round)
        for (std::uint32_t line = 0; line < lines; ++line) hits += set.use(line);
    return hits;
}

TEST(Replacement, ARingOneLongerThanTheSetThrashesWithOrderAndNotWithout) {
    EXPECT_EQ(hits_of_ring(kLru, 16, 17), 0);
    EXPECT_EQ(hits_of_ring(kFifo, 16, 17), 0);
    EXPECT_GT(hits_of_ring(kRandom, 16, 17), 60);
    EXPECT_GT(hits_of_ring(kTreePlru, 16, 17), 60);
    for (const ReplacementPolicy policy : {kLru, kFifo, kRandom, kTreePlru})
        EXPECT_EQ(hits_of_ring(policy, 16, 16), 9 * 16);
}

TEST(Replacement, AUseSavesALineFromLruAndNotFromFifo) {
    for (const bool is_lru : {true, false}) {
        Set set(is_lru ? kLru : kFifo, 4);
        for (const std::uint32_t line : {0, 1, 2, 3, 0, 4}) set.use(line);
        EXPECT_EQ(set.holds(0), is_lru);
        EXPECT_EQ(set.holds(1), !is_lru);
    }
}

TEST(Replacement, TheTreePointsAwayFromWhatWasUsed) {
    Set set(kTreePlru, 4);
    for (const std::uint32_t line : {0, 1, 2, 3}) set.use(line);
    // The last use was in the right half: the left one's line that was not used last leaves.
    set.use(4);
    EXPECT_FALSE(set.holds(0));
    // Now the left half was used last: the right one's, and there 2 before 3.
    set.use(5);
    EXPECT_FALSE(set.holds(2));
    // Pseudo: 1 is the least recently used, but its half was used after 3's.
    set.use(4);
    set.use(6);
    EXPECT_TRUE(set.holds(1));
    EXPECT_FALSE(set.holds(3));
}

TEST(Replacement, ATreeOfWaysThatAreNoPowerOfTwoUsesThemAll) {
    for (const std::uint32_t ways : {1u, 3u, 5u, 12u, 24u, 63u})
        EXPECT_EQ(hits_of_ring(kTreePlru, ways, ways), static_cast<int>(9 * ways)) << ways;
}

TEST(Replacement, PrioritiesComeBeforeAnyPolicy) {
    for (const ReplacementPolicy policy : {kLru, kFifo, kRandom, kTreePlru}) {
        Set set(policy, 8);
        for (std::uint32_t line = 0; line < 7; ++line) set.use(line, 2);
        set.use(7, 0);
        for (std::uint32_t line = 8; line < 40; ++line) set.use(line, 0);
        for (std::uint32_t line = 0; line < 7; ++line) EXPECT_TRUE(set.holds(line)) << line;
    }
}

TEST(Replacement, LinesThatAreBeingFetchedStay) {
    for (const ReplacementPolicy policy : {kLru, kFifo, kRandom, kTreePlru}) {
        Set set(policy, 4);
        for (const std::uint32_t line : {0, 1, 2, 3}) set.use(line);
        for (const std::uint32_t line : {0, 1, 3})
            set.tags().line(set.tags().find(0, L2Tags::key(line, 0))).mshr = 5;
        for (std::uint32_t line = 4; line < 20; ++line) {
            set.use(line);
            EXPECT_TRUE(set.holds(0) && set.holds(1) && set.holds(3));
        }
        set.tags().line(set.tags().find(0, L2Tags::key(19, 0))).mshr = 6;
        EXPECT_EQ(set.tags().victim(0, false), L2Tags::kNone);
    }
}

}  // namespace
}  // namespace lockstep::gpu
