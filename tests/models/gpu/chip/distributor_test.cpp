// SPDX-License-Identifier: Apache-2.0
// Which SM gets which CTA, and when.
#include "models/gpu/chip/distributor.h"

#include <gmock/gmock.h>

#include <deque>
#include <optional>

namespace lockstep::gpu {
namespace {

using testing::ElementsAre;

/// An SM that has room for so many CTAs, whatever their kernels.
struct FakeSm final : CtaHost {
    struct Start {
        const KernelRun* run;
        std::uint64_t index;
        engine::Cycle at;
    };
    bool fits(const KernelRun& run) const override { return room(run) != 0; }
    std::uint32_t room(const KernelRun&) const override { return slots - resident; }
    std::uint32_t load() const override { return warps; }
    void start_cta(const KernelRun& run, std::uint64_t index, engine::Cycle at,
                   sass::ClusterMember* member) override {
        ++resident;
        warps += run.warps_per_cta;
        starts.push_back({&run, index, at});
        ranks.push_back(member == nullptr ? -1 : static_cast<int>(member->rank));
    }
    void end(const KernelRun& run) {
        --resident;
        warps -= run.warps_per_cta;
    }
    std::vector<std::uint64_t> indices() const {
        std::vector<std::uint64_t> result;
        for (const Start& start : starts) result.push_back(start.index);
        return result;
    }
    std::uint32_t slots = 2, resident = 0, warps = 0;
    std::vector<Start> starts;
    std::vector<int> ranks;
};

class DistributorTest : public testing::Test {
  protected:
    DistributorTest() { connect(); }
    void connect() {
        distributor_.emplace(map_, timing_);
        std::vector<CtaHost*> hosts;
        for (FakeSm& sm : sms_) hosts.push_back(&sm);
        distributor_->connect(hosts);
        distributor_->begin(sms_.size());
    }
    Grid& add(std::uint64_t ctas, int priority = 0, std::uint32_t cluster = 0) {
        sass::Launch& launch = launches_.emplace_back();
        launch.grid = {static_cast<std::uint32_t>(ctas), 1, 1};
        if (cluster != 0) {
            launch.is_clustered = true;
            launch.cluster = {cluster, 1, 1};
        }
        auto grid = std::make_unique<Grid>();
        grid->run.launch = &launch;
        grid->run.warps_per_cta = 4;
        grid->total = ctas;
        grid->priority = priority;
        grid->order = arrivals_++;
        grid->first_cta = 100;
        return distributor_->add(std::move(grid));
    }
    EndedCta end(std::size_t sm, const Grid& grid, engine::Cycle at) {
        sms_[sm].end(grid.run);
        return {{at, &grid.run}, &sms_[sm]};
    }
    void refill(std::vector<EndedCta> ended, engine::Cycle earliest) {
        distributor_->count(ended);
        distributor_->refill(ended, earliest);
    }

    static constexpr engine::Cycle kInterval = 3, kLatency = 20;
    const GpcMap map_{*config::Machine::load("h200", {"sm.count=4", "gpc.count=2"})};
    DistributorTiming timing_{kInterval, kLatency};
    std::optional<Distributor> distributor_;
    std::deque<FakeSm> sms_ = std::deque<FakeSm>(4);
    std::deque<sass::Launch> launches_;
    std::uint64_t arrivals_ = 0;
};

TEST_F(DistributorTest, CtasGoToTheLeastLoadedSmsInTurn) {
    const Grid& grid = add(11);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_THAT(sms_[i].indices(), ElementsAre(i, i + 4));
        EXPECT_EQ(sms_[i].starts[0].at, 100 + i * kInterval);
    }
    EXPECT_EQ(grid.next, 8u);
}

TEST_F(DistributorTest, StartsInPartsOfACycleAddUp) {
    timing_.interval = 1.25;
    connect();
    add(8);
    EXPECT_EQ(sms_[1].starts[0].at, 101u);
    EXPECT_EQ(sms_[3].starts[0].at, 103u);
    EXPECT_EQ(sms_[0].starts[1].at, 105u);
    EXPECT_EQ(sms_[3].starts[1].at, 108u);
}

TEST_F(DistributorTest, LaterCtasGoWhereOneHasEndedInTheOrderOfTheEnds) {
    Grid& grid = add(11);
    refill({end(3, grid, 500), end(1, grid, 400)}, 0);
    EXPECT_EQ(sms_[1].starts.back().index, 8u);
    EXPECT_EQ(sms_[1].starts.back().at, 400 + kLatency);
    EXPECT_EQ(sms_[3].starts.back().index, 9u);
    EXPECT_EQ(sms_[3].starts.back().at, 500 + kLatency);
    refill({end(0, grid, 600), end(0, grid, 600)}, 1000);
    EXPECT_EQ(sms_[0].starts.back().at, 1000u);
    EXPECT_EQ(sms_[0].starts.size(), 3u);
    EXPECT_EQ(grid.ended, 4u);
    EXPECT_EQ(grid.last_end, 600u);
    EXPECT_EQ(distributor_->head(), nullptr);
}

TEST_F(DistributorTest, AKernelIsPlacedWholeBeforeTheNextByPriorityThenArrival) {
    Grid& first = add(9);
    const Grid& second = add(2);
    const Grid& urgent = add(1, -1);
    EXPECT_EQ(distributor_->head(), &urgent);
    refill({end(2, first, 300)}, 310);
    EXPECT_EQ(sms_[2].starts.back().run, &urgent.run);
    refill({end(2, urgent, 400), end(0, first, 410), end(3, first, 420)}, 430);
    EXPECT_EQ(sms_[2].starts.back().run, &first.run);
    EXPECT_EQ(second.next, 2u);
    EXPECT_FALSE(second.has_left());
    EXPECT_TRUE(urgent.is_done());
}

TEST_F(DistributorTest, AKernelByItselfKeepsToTheSmsThatItsFirstCtasUse) {
    distributor_->begin(2);
    add(4);
    EXPECT_THAT(sms_[0].indices(), ElementsAre(0, 2));
    EXPECT_TRUE(sms_[2].starts.empty());
    distributor_->use_all();
    add(1);
    EXPECT_EQ(sms_[2].starts.size(), 1u);
}

TEST_F(DistributorTest, AClusterStartsWhenOneGpcHasRoomForAllOfIt) {
    for (FakeSm& sm : sms_) sm.slots = 1;
    sms_[0].slots = 0;  // of GPC 0, as SM 1
    Grid& grid = add(4, 0, 2);
    EXPECT_TRUE(sms_[1].starts.empty());
    EXPECT_THAT(sms_[2].ranks, ElementsAre(0));
    EXPECT_THAT(sms_[3].ranks, ElementsAre(1));
    EXPECT_EQ(grid.next, 2u);
    refill({end(2, grid, 300), end(3, grid, 350)}, 0);
    EXPECT_THAT(sms_[2].indices(), ElementsAre(0, 2));
    EXPECT_EQ(sms_[2].starts.back().at, 350 + kLatency);
    EXPECT_FALSE(grid.has_left());
}

}  // namespace
}  // namespace lockstep::gpu
