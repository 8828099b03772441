// SPDX-License-Identifier: Apache-2.0
// What each warp scheduler picks, and how a sub-core's warps advance under it.
#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "sm_fixture.h"

namespace lockstep::gpu {
namespace {

constexpr unsigned kSubCores = 4;

/// Warps of a sub-core, 0 the oldest but for 6, whose slot has been used again.
class Warps {
  public:
    Warps() {
        for (unsigned warp = 0; warp < 16; ++warp)
            contexts_[warp * kSubCores].age = warp == 6 ? 100 : warp + 1;
    }
    unsigned choose(WarpPolicy policy, std::uint32_t eligible, unsigned last,
                    unsigned group = 4) const {
        return warp_scheduler(policy).choose({.eligible = eligible,
                                              .last = last,
                                              .group = group,
                                              .first = contexts_.data(),
                                              .stride = kSubCores});
    }
    /// Who issues in turn while all of `eligible` can, as 0,1,2.
    std::string order(WarpPolicy policy, std::uint32_t eligible, unsigned last,
                      unsigned count) const {
        std::string list;
        for (unsigned i = 0; i < count; ++i) {
            last = choose(policy, eligible, last);
            list += (list.empty() ? "" : ",") + std::to_string(last);
        }
        return list;
    }

  private:
    std::array<WarpContext, 16 * kSubCores> contexts_{};
};

TEST(WarpScheduler, GreedyOnesStayWithTheWarpThatIssuedLast) {
    for (const WarpPolicy policy : {WarpPolicy::kGreedyThenYoungest, WarpPolicy::kGreedyThenOldest})
        EXPECT_EQ(Warps().order(policy, 0b1111, 2, 4), "2,2,2,2");
}

TEST(WarpScheduler, ThenTheYoungestOrTheOldestGoes) {
    EXPECT_EQ(Warps().choose(WarpPolicy::kGreedyThenYoungest, 0b1011, 2), 3u);
    EXPECT_EQ(Warps().choose(WarpPolicy::kGreedyThenOldest, 0b1011, 2), 0u);
    // By age, not by slot.
    EXPECT_EQ(Warps().choose(WarpPolicy::kGreedyThenYoungest, 0b11000001, 2), 6u);
    EXPECT_EQ(Warps().choose(WarpPolicy::kGreedyThenOldest, 0b11000000, 2), 7u);
}

TEST(WarpScheduler, RoundRobinTakesTurns) {
    EXPECT_EQ(Warps().order(WarpPolicy::kRoundRobin, 0b1111, 0, 6), "1,2,3,0,1,2");
    EXPECT_EQ(Warps().order(WarpPolicy::kRoundRobin, 0b1000'0000'0000'0101, 2, 4), "15,0,2,15");
}

TEST(WarpScheduler, TwoLevelsTakeTurnsWithinAGroup) {
    const std::uint32_t all = 0xffff;
    EXPECT_EQ(Warps().order(WarpPolicy::kTwoLevel, all, 4, 6), "5,6,7,4,5,6");
    // None of the group can: the next group's turn, and it stays there.
    EXPECT_EQ(Warps().order(WarpPolicy::kTwoLevel, all & ~0xf0u, 5, 3), "8,9,10");
    EXPECT_EQ(Warps().choose(WarpPolicy::kTwoLevel, 0b11, 13), 0u);
    // Groups that do not divide the warps, and one of all.
    EXPECT_EQ(Warps().choose(WarpPolicy::kTwoLevel, 0xffff, 15, 7), 14u);
    EXPECT_EQ(Warps().choose(WarpPolicy::kTwoLevel, 0xffff, 15, 32), 0u);
}

/// Cycles of an instruction of each of eight warps, two a sub-core.
double cycles(std::string_view scheduler, const sass::Word& instruction) {
    SmFixture sm("h200",
                 {"front_end.l0_miss_latency=1", "sub_core.scheduler=" + std::string(scheduler)});
    return sm.cycles_each({instruction}, 64, 8);
}

// Whoever goes first, an instruction is issued in every cycle.
TEST(WarpScheduler, AllIssueWheneverAWarpCan) {
    for (const config::Choice& scheduler : kWarpPolicies)
        EXPECT_DOUBLE_EQ(cycles(scheduler.name, ffma(20, 2, 5, 255)), 2) << scheduler.name;
}

// The reuse cache holds operands of the warp that issued last: in turns, they are of no use to the
// next, and three operands take two reads of a bank.
TEST(WarpScheduler, TurnsLoseTheReuseCache) {
    const sass::Word reusing = ffma(4, 1, 2, 3, {.reuse = 7});
    EXPECT_DOUBLE_EQ(cycles("greedy_then_youngest", reusing), 2);
    EXPECT_DOUBLE_EQ(cycles("greedy_then_oldest", reusing), 2);
    EXPECT_DOUBLE_EQ(cycles("round_robin", reusing), 4);
}

}  // namespace
}  // namespace lockstep::gpu
