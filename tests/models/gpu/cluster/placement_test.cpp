// SPDX-License-Identifier: Apache-2.0
// Which SMs a GPC has, and where clusters go.
#include "models/gpu/cluster/placement.h"

#include <gmock/gmock.h>

#include <set>

#include "sim/error/error.h"

namespace lockstep::gpu {
namespace {

TEST(GpcMap, TpcsAreDealtToGpcsThatAreNotFull) {
    const GpcMap map(*config::Machine::load("h100"));
    ASSERT_EQ(map.gpcs(), 8u);
    EXPECT_THAT(map.sms(0), testing::ElementsAre(0, 1, 16, 17, 32, 33, 48, 49, 64, 65, 80, 81, 96,
                                                 97, 112, 113));
    std::vector<std::size_t> sizes;
    for (std::uint32_t gpc = 0; gpc < 8; ++gpc) sizes.push_back(map.sms(gpc).size());
    EXPECT_THAT(sizes, testing::ElementsAre(16, 18, 18, 18, 16, 16, 16, 14));
    for (std::uint32_t gpc = 0; gpc < 8; ++gpc)
        for (const std::uint16_t sm : map.sms(gpc)) EXPECT_EQ(map.gpc_of(sm), gpc);
}

TEST(GpcMap, ClustersOfEightLeaveTwelveSmsOfAnH100Idle) {
    // Measured: 17 clusters of 4x2 on an H100 SXM use 120 of its 132 SMs.
    EXPECT_EQ(GpcMap(*config::Machine::load("h100")).clusters(8, 1), 15u);
    EXPECT_EQ(GpcMap(*config::Machine::load("h200")).clusters(8, 1), 16u);
    EXPECT_EQ(GpcMap(*config::Machine::load("h100")).clusters(2, 1), 66u);
    EXPECT_EQ(GpcMap(*config::Machine::load("h100")).clusters(16, 1), 7u);
}

TEST(GpcMap, AListThatIsNoneIsRefused) {
    EXPECT_THROW(GpcMap(*config::Machine::load("h100", {"gpc.sms=16,x"})), InputError);
}

TEST(Placement, AClusterKeepsToOneGpcAndSpreadsOverItsSms) {
    const GpcMap map(*config::Machine::load("h100"));
    std::vector<SmOffer> offers(132, SmOffer{.room = 1});
    std::set<std::uint16_t> used;
    int clusters = 0;
    for (auto sms = place_cluster(map, offers, 8, 4); !sms.empty();
         sms = place_cluster(map, offers, 8, 4)) {
        ++clusters;
        for (const std::uint16_t sm : sms) {
            EXPECT_EQ(map.gpc_of(sm), map.gpc_of(sms[0]));
            EXPECT_TRUE(used.insert(sm).second) << sm;
            offers[sm] = {.room = 0, .load = 4};
        }
    }
    EXPECT_EQ(clusters, 15);
}

TEST(Placement, SmsThatHoldLessComeFirst) {
    const GpcMap map(*config::Machine::load("h200", {"sm.count=8", "gpc.count=2"}));
    std::vector<SmOffer> offers(8, SmOffer{.room = 2});
    offers[0].load = 8;  // of GPC 0, as SMs 1, 4 and 5
    EXPECT_THAT(place_cluster(map, offers, 2, 4), testing::ElementsAre(2, 3));
    for (const int sm : {2, 3, 6, 7}) offers[static_cast<std::size_t>(sm)].room = 0;
    EXPECT_THAT(place_cluster(map, offers, 4, 4), testing::ElementsAre(1, 4, 5, 1));
    EXPECT_THAT(place_cluster(map, offers, 9, 4), testing::IsEmpty());
}

}  // namespace
}  // namespace lockstep::gpu
