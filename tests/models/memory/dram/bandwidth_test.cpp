// SPDX-License-Identifier: Apache-2.0
// Sustained bandwidth of one channel against what the constraints allow, worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/models/memory/dram/drive.h"

namespace lockstep::memory::dram {
namespace {

class Bandwidth : public ::testing::TestWithParam<Preset> {
  protected:
    Geometry geometry_ = make_geometry(GetParam());
    const Timing& t_ = geometry_.timing;
    Controller last_{geometry_, {}};

    /// Share of the bus that carries data.
    double utilisation(const std::vector<Offered>& requests,
                       const ControllerParameters& parameters = {}) {
        Controller controller(geometry_, parameters);
        const std::vector<Cycle> done = drive(controller, requests);
        last_ = controller;
        return double(controller.statistics().bus_busy_cycles) /
               double(*std::max_element(done.begin(), done.end()));
    }

    std::vector<Offered> stream(std::size_t count, int write_every = 0) {
        const AddressMap map(geometry_, {});
        std::vector<Offered> requests;
        for (std::size_t i = 0; i < count; ++i)
            requests.push_back(
                {write_every > 0 && i % write_every == 0 ? Direction::kWrite : Direction::kRead,
                 map.decode_in_channel(i * geometry_.organisation.burst_bytes()), 0});
        return requests;
    }

    std::vector<Offered> random(std::size_t count, std::uint32_t banks) {
        std::mt19937_64 generator(1);
        std::vector<Offered> requests;
        for (std::size_t i = 0; i < count; ++i)
            requests.push_back({Direction::kRead,
                                {static_cast<std::uint32_t>(generator() % banks),
                                 static_cast<std::uint32_t>(generator() % geometry_.rows), 0},
                                0});
        return requests;
    }
};

TEST_P(Bandwidth, StreamingReadsReachNineTenthsOfPeakMinusRefresh) {
    ControllerParameters parameters;
    parameters.refresh = RefreshPolicy::kNone;
    EXPECT_GT(utilisation(stream(40000), parameters), 0.97);
    // All-bank refresh takes the bus for RFC in every REFI of each rank.
    parameters.refresh = RefreshPolicy::kAllBank;
    const double left = 1 - double(geometry_.ranks) * t_.RFC / t_.REFI;
    EXPECT_GT(utilisation(stream(40000), parameters), 0.9 * left);
    if (std::string(GetParam().standard) == "DDR3") return;  // has no per-bank refresh
    parameters.refresh = RefreshPolicy::kPerBank;
    const double per_bank = utilisation(stream(40000), parameters);
    EXPECT_GT(per_bank, 0.9);
    EXPECT_GT(last_.statistics().refreshes_bank, 100u);
}

TEST_P(Bandwidth, RandomReadsAreBoundByActivations) {
    ControllerParameters parameters;
    parameters.refresh = RefreshPolicy::kNone;
    // One bank: one access per RC (RAS and RP are rounded up each). All banks of a rank: four
    // activations in FAW, one per RRD_S, one per RC and bank; each rank has its own window.
    const double row_cycle = std::max(t_.RC, t_.RAS + t_.RP);
    const double one = t_.burst / row_cycle;
    EXPECT_NEAR(utilisation(random(4000, 1), parameters) / one, 1, 0.01);
    const std::uint32_t banks = geometry_.organisation.banks_per_rank();
    const double per_access = std::max({t_.FAW / 4.0, double(t_.RRD_S), row_cycle / banks});
    const double bound = t_.burst / per_access;
    const double measured = utilisation(random(40000, banks), parameters);
    EXPECT_LE(measured, bound * 1.001);
    // The queue holds few requests a bank, so not every activation slot finds a bank that is free.
    EXPECT_GT(measured, bound * 0.85);
}

TEST_P(Bandwidth, RoundRobinOverBanksMeetsTheActivationBoundExactly) {
    ControllerParameters parameters;
    parameters.refresh = RefreshPolicy::kNone;
    const Organisation& organisation = geometry_.organisation;
    std::vector<Offered> requests;
    const std::uint32_t banks = organisation.banks_per_rank();
    for (std::uint32_t i = 0; i < 20000; ++i) {
        const std::uint32_t group = i % organisation.bank_groups;
        const std::uint32_t in_group = i / organisation.bank_groups % organisation.banks_per_group;
        requests.push_back(
            {Direction::kRead, {group * organisation.banks_per_group + in_group, i / banks, 0}, 0});
    }
    const double per_access = std::max({t_.FAW / 4.0, double(t_.RRD_S), double(t_.RC) / banks});
    EXPECT_NEAR(utilisation(requests, parameters) * per_access / t_.burst, 1, 0.01);
}

TEST_P(Bandwidth, MixingReadsAndWritesCostsTheTurnarounds) {
    ControllerParameters parameters;
    parameters.refresh = RefreshPolicy::kNone;
    const double pure = utilisation(stream(20000), parameters);
    const double mixed = utilisation(stream(20000, 2), parameters);
    EXPECT_LT(mixed, pure - 0.02);
    // Writes are drained 32 at a time: a round is 64 bursts and one turn each way.
    const double turn = t_.turnaround + t_.CL + (t_.WTR_S + t_.WTR_L) / 2.0;
    const double round = 64.0 * t_.burst;
    EXPECT_NEAR(mixed, round / (round + turn), 0.05);
    parameters.write_high = 4;
    parameters.write_low = 0;
    parameters.write_burst = 4;
    EXPECT_LT(utilisation(stream(20000, 2), parameters), mixed - 0.1);
}

TEST_P(Bandwidth, FrFcfsBeatsFcfs) {
    ControllerParameters parameters;
    parameters.refresh = RefreshPolicy::kNone;
    std::vector<Offered> requests;
    for (std::uint32_t i = 0; i < 8000; ++i)  // two streams that fight for one bank
        requests.push_back({Direction::kRead, {0, i % 2 * 100 + i / 200, 0}, 0});
    const double ready_first = utilisation(requests, parameters);
    parameters.scheduler = &fcfs();
    const double in_order = utilisation(requests, parameters);
    EXPECT_NEAR(in_order, double(t_.burst) / t_.RC, 0.01);
    EXPECT_GT(ready_first, 2 * in_order);
}

TEST_P(Bandwidth, NoRequestStarves) {
    ControllerParameters parameters;
    parameters.refresh = RefreshPolicy::kNone;
    parameters.starvation_cap = 8;
    std::vector<Offered> requests(2000, {Direction::kRead, {0, 1, 0}, 0});
    requests[10].location.row = 2;
    Controller controller(geometry_, parameters);
    const std::vector<Cycle> done = drive(controller, requests);
    EXPECT_LT(done[10], done[19] + t_.RTP + t_.RP + t_.RCD_read + t_.RC + t_.CCD_L);
    parameters.starvation_cap = 1000;
    Controller unfair(geometry_, parameters);
    EXPECT_GT(drive(unfair, requests)[10], done[10]);
}

INSTANTIATE_TEST_SUITE_P(Machines, Bandwidth,
                         ::testing::ValuesIn(presets().begin(), presets().end()),
                         [](const auto& machine) { return std::string(machine.param.name); });

}  // namespace
}  // namespace lockstep::memory::dram
