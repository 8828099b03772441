// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/memory/request_coalescer.h"

#include <gmock/gmock.h>

#include "models/gpu/memory/gpc_ports.h"

namespace lockstep::gpu {
namespace {

using testing::ElementsAre;
using Joined = RequestCoalescer::Joined;

constexpr engine::Cycle kLatency = 70;

RoutedRequest read(std::uint32_t id, std::uint8_t sectors = 0xf) {
    return {.request = {.id = id, .sectors = sectors}};
}

std::vector<std::uint32_t> answer(RequestCoalescer& coalescer, engine::Cycle now,
                                  std::uint32_t entry) {
    std::vector<std::uint32_t> ids;
    coalescer.answer(now, entry, [&](const auto& follower) { ids.push_back(follower.id); });
    return ids;
}

TEST(RequestCoalescer, ReadsOfALineUnderWayWaitForTheFirst) {
    RequestCoalescer coalescer(16, 4, kLatency);
    const auto first = coalescer.join(10, 7, read(1), 0);
    ASSERT_EQ(first.joined, Joined::kLeads);
    EXPECT_EQ(coalescer.join(11, 7, read(2), 1).joined, Joined::kWaits);
    EXPECT_EQ(coalescer.join(12, 8, read(3), 1).joined, Joined::kLeads);  // another line
    EXPECT_EQ(coalescer.join(13, 7, read(4), 2).joined, Joined::kWaits);
    EXPECT_THAT(answer(coalescer, 50, first.entry), ElementsAre(2, 4));
    EXPECT_EQ(coalescer.join(60, 7, read(5), 3).joined, Joined::kAnswered);
}

TEST(RequestCoalescer, TakesSoManyReads) {
    RequestCoalescer coalescer(16, 2, kLatency);
    const auto first = coalescer.join(0, 7, read(1), 0);
    EXPECT_EQ(coalescer.join(0, 7, read(2), 1).joined, Joined::kWaits);
    const auto third = coalescer.join(0, 7, read(3), 2);
    ASSERT_EQ(third.joined, Joined::kLeads);
    EXPECT_EQ(coalescer.join(0, 7, read(4), 3).joined, Joined::kWaits);
    EXPECT_THAT(answer(coalescer, 5, first.entry), ElementsAre(2));
    EXPECT_THAT(answer(coalescer, 6, third.entry), ElementsAre(4));
}

TEST(RequestCoalescer, AnEntryEndsWhenItsDataHasLeft) {
    RequestCoalescer coalescer(1, 4, kLatency);
    const auto first = coalescer.join(0, 7, read(1), 0);
    EXPECT_EQ(coalescer.join(1, 9, read(2), 0).entry, RequestCoalescer::kNone);  // no room
    answer(coalescer, 10, first.entry);
    EXPECT_EQ(coalescer.join(10 + kLatency - 1, 7, read(3), 0).joined, Joined::kAnswered);
    const auto later = coalescer.join(10 + kLatency, 7, read(4), 0);
    EXPECT_EQ(later.joined, Joined::kLeads);
    EXPECT_NE(later.entry, RequestCoalescer::kNone);
}

TEST(RequestCoalescer, SectorsThatNobodyAskedForAreAskedFor) {
    RequestCoalescer coalescer(16, 4, kLatency);
    coalescer.join(0, 7, read(1, 0b0011), 0);
    EXPECT_EQ(coalescer.join(0, 7, read(2, 0b0001), 1).joined, Joined::kWaits);
    EXPECT_EQ(coalescer.join(0, 7, read(3, 0b0110), 2).joined, Joined::kLeads);
}

TEST(RequestCoalescer, WithoutEntriesThereIsNone) {
    RequestCoalescer coalescer(0, 1, kLatency);
    coalescer.join(0, 7, read(1), 0);
    EXPECT_EQ(coalescer.join(0, 7, read(2), 1).joined, Joined::kLeads);
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
