// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/miss_table.h"

#include <gmock/gmock.h>

#include <vector>

namespace lockstep::gpu {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint32_t> arrive(MissTable& table, std::uint32_t entry, std::uint8_t sectors) {
    std::vector<std::uint32_t> served;
    table.arrive(entry, sectors, [&](std::uint32_t waiter) { served.push_back(waiter); });
    return served;
}

TEST(MissTable, WaitersAreServedWhenTheirSectorsHaveCome) {
    MissTable table(2);
    const std::uint32_t entry = table.add(77, EvictionPriority::kNormal);
    table[entry].pending = 0b1011;
    table.wait(entry, 0b0001, 10);
    table.wait(entry, 0b0011, 11);
    table.wait(entry, 0b1000, 12);
    EXPECT_THAT(arrive(table, entry, 0b0001), ElementsAre(10));
    EXPECT_EQ(table.find(77), entry);
    EXPECT_THAT(arrive(table, entry, 0b0100), IsEmpty());
    EXPECT_THAT(arrive(table, entry, 0b1010), ElementsAre(11, 12));
    EXPECT_EQ(table.find(77), MissTable::kNone);
    EXPECT_TRUE(table.is_empty());
}

TEST(MissTable, EntriesAreUsedAgain) {
    MissTable table(2);
    const std::uint32_t a = table.add(1, EvictionPriority::kNormal);
    table.add(2, EvictionPriority::kNormal);
    EXPECT_TRUE(table.is_full());
    table[a].pending = 1;
    table.wait(a, 1, 5);
    arrive(table, a, 1);
    EXPECT_FALSE(table.is_full());
    const std::uint32_t b = table.add(3, EvictionPriority::kFirst);
    EXPECT_EQ(table[b].priority, EvictionPriority::kFirst);
    EXPECT_TRUE(table[b].may_fill);
    table.forbid_fills();
    EXPECT_FALSE(table[b].may_fill);
}

}  // namespace

}  // namespace lockstep::gpu
