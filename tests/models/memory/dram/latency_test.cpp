// SPDX-License-Identifier: Apache-2.0
// Without load, a request takes the sum of its commands' distances, to the cycle.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/memory/dram/drive.h"

namespace lockstep::memory::dram {
namespace {

class Latency : public ::testing::TestWithParam<Preset> {
  protected:
    Geometry geometry_ = make_geometry(GetParam());
    const Timing& t_ = geometry_.timing;

    std::vector<Cycle> run(const std::vector<Offered>& requests,
                           const RowPolicy& policy = open_rows(), Cycle timeout = 0) {
        ControllerParameters parameters;
        parameters.refresh = RefreshPolicy::kNone;
        parameters.row_policy = &policy;
        parameters.row_timeout = timeout;
        Controller controller(geometry_, parameters);
        return drive(controller, requests);
    }
};

constexpr Direction kRead = Direction::kRead, kWrite = Direction::kWrite;

TEST_P(Latency, ClosedBank) {
    EXPECT_EQ(run({{kRead, {0, 7, 0}, 1000}})[0], 1000 + t_.RCD_read + t_.CL + t_.burst);
    EXPECT_EQ(run({{kWrite, {0, 7, 0}, 1000}})[0], 1000 + t_.RCD_write + t_.CWL + t_.burst);
}

TEST_P(Latency, OpenRow) {
    EXPECT_EQ(run({{kRead, {0, 7, 0}, 0}, {kRead, {0, 7, 1}, 5000}})[1], 5000 + t_.CL + t_.burst);
}

TEST_P(Latency, OtherRowOpen) {
    EXPECT_EQ(run({{kRead, {0, 7, 0}, 0}, {kRead, {0, 8, 0}, 5000}})[1],
              5000 + t_.RP + t_.RCD_read + t_.CL + t_.burst);
}

TEST_P(Latency, ClosedPagePolicyHidesThePrecharge) {
    EXPECT_EQ(run({{kRead, {0, 7, 0}, 0}, {kRead, {0, 8, 0}, 5000}}, closed_rows())[1],
              5000 + t_.RCD_read + t_.CL + t_.burst);
}

TEST_P(Latency, TimeoutPolicyClosesAfterTheTimeout) {
    const auto second = [&](Cycle at) {
        return run({{kRead, {0, 7, 0}, 0}, {kRead, {0, 7, 0}, at}}, timeout_rows(), 1000)[1] - at;
    };
    const Cycle column = t_.RCD_read;  // of the first request
    EXPECT_EQ(second(column + 1000), t_.CL + t_.burst);
    EXPECT_EQ(second(column + 1000 + t_.RP + 1), t_.RCD_read + t_.CL + t_.burst);
}

TEST_P(Latency, BackToBackReadsOfABank) {
    const std::vector<Cycle> done =
        run({{kRead, {0, 7, 0}, 0}, {kRead, {0, 7, 1}, 0}, {kRead, {0, 8, 0}, 0}});
    EXPECT_EQ(done[1] - done[0], t_.CCD_L);
    const Cycle precharge = std::max<Cycle>(t_.RAS, t_.RCD_read + t_.CCD_L + t_.RTP);
    EXPECT_EQ(done[2], std::max<Cycle>(precharge + t_.RP, t_.RC) + t_.RCD_read + t_.CL + t_.burst);
}

TEST_P(Latency, TurningTheBus) {
    // An open row; then a write and a read of it at once, the read first.
    const std::vector<Cycle> done =
        run({{kRead, {0, 7, 0}, 0}, {kRead, {0, 7, 1}, 5000}, {kWrite, {0, 7, 2}, 5000}});
    EXPECT_EQ((done[2] - t_.burst) - done[1], t_.turnaround);
    const std::vector<Cycle> back =
        run({{kWrite, {0, 7, 0}, 0}, {kWrite, {0, 7, 1}, 5000}, {kRead, {0, 7, 2}, 5001}});
    EXPECT_EQ((back[2] - t_.burst) - back[1], t_.WTR_L + t_.CL);
}

TEST_P(Latency, ARefreshDelaysByItsDuration) {
    for (const RefreshPolicy policy : {RefreshPolicy::kAllBank, RefreshPolicy::kPerBank}) {
        ControllerParameters parameters;
        parameters.refresh = policy;
        Controller controller(geometry_, parameters);
        const bool all = policy == RefreshPolicy::kAllBank;
        const Cycle due = t_.REFI / (all ? geometry_.ranks : geometry_.banks());
        // Bank 0 is the first to be refreshed.
        const std::vector<Cycle> done = drive(controller, {{kRead, {0, 7, 0}, due + 1}});
        EXPECT_EQ(done[0], due + (all ? t_.RFC : t_.RFC_bank) + t_.RCD_read + t_.CL + t_.burst);
    }
}

TEST_P(Latency, RefreshesComeEarlierByTheirPhase) {
    for (const RefreshPolicy policy : {RefreshPolicy::kAllBank, RefreshPolicy::kPerBank}) {
        ControllerParameters parameters;
        parameters.refresh = policy;
        parameters.refresh_phase = 0.25;
        const bool all = policy == RefreshPolicy::kAllBank;
        const double units = all ? geometry_.ranks : geometry_.banks();
        // Bank 0's turn, which comes every REFI, is a quarter of that earlier.
        const double turn = 1 - 0.25 * units + (0.25 * units < 1 ? 0 : units);
        const Cycle first =
            static_cast<Cycle>(std::ceil(turn * t_.REFI)) / static_cast<Cycle>(units);
        for (const Cycle due : {first, first + t_.REFI}) {
            Controller controller(geometry_, parameters);
            const std::vector<Cycle> done = drive(controller, {{kRead, {0, 7, 0}, due + 1}});
            EXPECT_EQ(done[0], due + (all ? t_.RFC : t_.RFC_bank) + t_.RCD_read + t_.CL + t_.burst);
        }
    }
}

TEST_P(Latency, IdleTimeIsMadeUpFor) {
    ControllerParameters parameters;
    Controller controller(geometry_, parameters);
    EXPECT_EQ(controller.next_event(), kNever);
    const Cycle late = Cycle{t_.REFI} * 1'000'000'000 + 3;
    const std::vector<Cycle> done =
        drive(controller, {{kRead, {0, 7, 0}, 0}, {kRead, {1, 7, 0}, late}});
    EXPECT_LE(done[1], late + t_.RFC_bank + t_.RREFD + t_.RCD_read + t_.CL + t_.burst);
    EXPECT_EQ(controller.next_event(), kNever);
    EXPECT_NEAR(double(controller.statistics().refreshes_bank), 1e9 * geometry_.banks(),
                geometry_.banks());
}

INSTANTIATE_TEST_SUITE_P(Machines, Latency, ::testing::ValuesIn(presets().begin(), presets().end()),
                         [](const auto& machine) { return std::string(machine.param.name); });

}  // namespace
}  // namespace lockstep::memory::dram
