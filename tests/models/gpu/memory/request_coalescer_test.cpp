// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/memory/request_coalescer.h"

#include <gmock/gmock.h>

#include "models/gpu/memory/gpc_ports.h"

namespace lockstep::gpu {
namespace {

using testing::ElementsAre;
using Taken = RequestCoalescer::Taken;

constexpr engine::Cycle kWindow = 10;

RequestCoalescer::Follower read(std::uint32_t id, std::uint8_t sectors = 0xf,
                                std::uint8_t gpc = 0) {
    return {.id = id, .gpc = gpc, .sectors = sectors};
}

std::vector<std::uint32_t> answer(RequestCoalescer& coalescer, std::uint32_t entry) {
    std::vector<std::uint32_t> ids;
    coalescer.answer(entry, [&](const auto& follower) { ids.push_back(follower.id); });
    return ids;
}

TEST(RequestCoalescer, ReadsOfALineThatWaitFollowTheFirst) {
    RequestCoalescer coalescer(16, 4, kWindow);
    const auto first = coalescer.take(10, 1, 7, read(1));
    ASSERT_EQ(first.taken, Taken::kLeads);
    EXPECT_EQ(coalescer.take(30, 2, 7, read(2)).taken, Taken::kFollows);
    EXPECT_EQ(coalescer.take(31, 3, 8, read(3)).taken, Taken::kLeads);  // another line
    EXPECT_EQ(coalescer.take(32, 3, 7, read(4)).taken, Taken::kFollows);
    EXPECT_THAT(answer(coalescer, first.entry), ElementsAre(2, 4));
    EXPECT_EQ(coalescer.take(33, 4, 7, read(5)).taken, Taken::kAnswered);
}

TEST(RequestCoalescer, ReadsThatArriveInItsWindowFollow) {
    RequestCoalescer coalescer(16, 4, kWindow);
    coalescer.take(10, 10, 7, read(1));
    EXPECT_EQ(coalescer.take(25, 10 + kWindow, 7, read(2)).taken, Taken::kFollows);
    EXPECT_EQ(coalescer.take(25, 11 + kWindow, 7, read(3)).taken, Taken::kLeads);
}

TEST(RequestCoalescer, ReadsThatPassL1ByFollowWhileTheyWait) {
    RequestCoalescer coalescer(16, 4, kWindow);
    RequestCoalescer::Follower by = read(1);
    by.must_wait = true;
    coalescer.take(10, 1, 7, by);
    EXPECT_EQ(coalescer.take(12, 10, 7, by).taken, Taken::kFollows);
    EXPECT_EQ(coalescer.take(12, 11, 7, read(2)).taken, Taken::kLeads);  // no window is open
    EXPECT_EQ(coalescer.take(14, 13, 7, by).taken, Taken::kLeads);
}

TEST(RequestCoalescer, OnlyReadsOfAGpcFollowEachOther) {
    RequestCoalescer coalescer(16, 4, kWindow);
    coalescer.take(0, 0, 7, read(1, 0xf, 0));
    EXPECT_EQ(coalescer.take(0, 0, 7, read(2, 0xf, 1)).taken, Taken::kLeads);
    EXPECT_EQ(coalescer.take(0, 0, 7, read(3, 0xf, 0)).taken, Taken::kFollows);
}

TEST(RequestCoalescer, TakesSoManyReads) {
    RequestCoalescer coalescer(16, 2, kWindow);
    const auto first = coalescer.take(0, 0, 7, read(1));
    EXPECT_EQ(coalescer.take(0, 0, 7, read(2)).taken, Taken::kFollows);
    const auto third = coalescer.take(0, 0, 7, read(3));
    ASSERT_EQ(third.taken, Taken::kLeads);
    EXPECT_EQ(coalescer.take(0, 0, 7, read(4)).taken, Taken::kFollows);
    EXPECT_THAT(answer(coalescer, first.entry), ElementsAre(2));
    EXPECT_THAT(answer(coalescer, third.entry), ElementsAre(4));
}

TEST(RequestCoalescer, AnEntryEndsWithItsWindow) {
    RequestCoalescer coalescer(1, 4, kWindow);
    const auto first = coalescer.take(0, 0, 7, read(1));
    const auto other = coalescer.take(1, 1, 9, read(2));
    EXPECT_EQ(other.taken, Taken::kLeads);
    EXPECT_EQ(other.entry, RequestCoalescer::kNone);  // no room
    const auto later = coalescer.take(20, 20, 7, read(3));
    EXPECT_EQ(later.taken, Taken::kLeads);
    EXPECT_NE(later.entry, RequestCoalescer::kNone);
    EXPECT_THAT(answer(coalescer, first.entry), ElementsAre());
}

TEST(RequestCoalescer, SectorsThatNobodyAskedForAreAskedFor) {
    RequestCoalescer coalescer(16, 4, kWindow);
    coalescer.take(0, 0, 7, read(1, 0b0011));
    EXPECT_EQ(coalescer.take(0, 0, 7, read(2, 0b0001)).taken, Taken::kFollows);
    EXPECT_EQ(coalescer.take(0, 0, 7, read(3, 0b0110)).taken, Taken::kLeads);
}

TEST(RequestCoalescer, WithoutEntriesThereIsNone) {
    RequestCoalescer coalescer(0, 1, kWindow);
    coalescer.take(0, 0, 7, read(1));
    EXPECT_EQ(coalescer.take(0, 0, 7, read(2)).taken, Taken::kLeads);
}

TEST(GpcPorts, LetsItsBandwidthThroughByGpc) {
    GpcPorts ports({0.5, 1}, 64);  // 32 and 64 bytes a cycle
    EXPECT_EQ(ports.pass(10, 0, 128), 10u);
    EXPECT_EQ(ports.pass(10, 0, 0), 14u);  // behind the first, and holds nothing
    EXPECT_EQ(ports.pass(11, 0, 128), 14u);
    EXPECT_EQ(ports.pass(11, 1, 128), 11u);
    EXPECT_EQ(ports.pass(12, 1, 128), 13u);
    EXPECT_EQ(ports.pass(12, kNoGpc, 128), 12u);
}

}  // namespace
}  // namespace lockstep::gpu
