// SPDX-License-Identifier: Apache-2.0
// A channel behind its clock: how long it takes does not depend on the time of day.
#include "models/gpu/memory/dram_channel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace lockstep::gpu {
namespace {

using engine::Cycle;

MemoryParameters h200(const std::string& override,
                      const std::string& refresh = "dram.refresh_order=together") {
    return MemoryParameters::of(*config::Machine::load("h200", {override, refresh}));
}

/// How long a read of a channel takes that leaves L2 at a cycle.
Cycle latency(Cycle at, const MemoryParameters& parameters, std::uint32_t number = 0) {
    DramChannel channel(parameters, number);
    std::vector<DramChannel::Completion> completions;
    channel.advance(at, completions);
    channel.request(at, {.sectors = 0x3, .location = {}});
    for (Cycle until = at; completions.empty() && until < at + 10'000; until += 10)
        channel.advance(until, completions);
    EXPECT_EQ(completions.size(), 1u);
    EXPECT_TRUE(channel.idle());
    return completions.empty() ? 0 : completions.front().at - at;
}

TEST(DramChannel, TakesAsLongAfterHoursAsAtFirst) {
    const MemoryParameters parameters = h200("dram.refresh=none");
    const Cycle first = latency(100, parameters);
    EXPECT_GT(first, 150u);
    for (const double seconds : {5.7, 5.8, 11.5, 60., 3600. * 24})
        EXPECT_NEAR(double(latency(static_cast<Cycle>(seconds * 1.98e9), parameters)),
                    double(first), 2)
            << seconds;
}

TEST(DramChannel, AnIdealOneTakesItsLatencyHoweverMuchIsAskedFor) {
    const auto machine = config::Machine::load("h200", {"ideal.dram=true"});
    const MemoryParameters parameters = MemoryParameters::of(*machine);
    const Cycle expected = parameters.open_row_latency;
    EXPECT_LT(expected, static_cast<Cycle>(machine->integer("dram.latency")));
    DramChannel channel(parameters, 0);
    std::vector<DramChannel::Completion> completions;
    for (std::uint32_t i = 0; i < 1000; ++i)  // a row each of one bank
        channel.request(50, {.sectors = 0xf, .location = {.row = i}});
    EXPECT_EQ(channel.next_event(), 50u);
    channel.advance(60, completions);
    ASSERT_EQ(completions.size(), 1000u);
    for (const DramChannel::Completion& done : completions) EXPECT_EQ(done.at, 50 + expected);
    EXPECT_TRUE(channel.idle());
    EXPECT_EQ(channel.statistics().bytes_read, 1000u * 128);
}

TEST(DramChannel, ChannelsRefreshTogetherOrInTurn) {
    constexpr int kSamples = 160;
    constexpr double kAllBanks = 3900e-9 * 1.98e9;  // cycles in which each is refreshed once
    const Cycle usual = latency(100, h200("dram.refresh=none"));
    for (const auto& [refresh, share] :
         {std::pair{"all_bank", 350.0 / 3900}, {"per_bank", 200.0 / 3900}})
        for (const std::string order : {"together", "by_channel"}) {
            const MemoryParameters parameters =
                h200(fmt::format("dram.refresh={}", refresh), "dram.refresh_order=" + order);
            int most = 0, total = 0;
            for (int sample = 0; sample < kSamples; ++sample) {
                const Cycle at = 8'000 + static_cast<Cycle>(sample * 2 * kAllBanks / kSamples);
                int held_up = 0;
                for (std::uint32_t i = 0; i < parameters.dram.channels; ++i)
                    held_up += latency(at, parameters, i) > usual + 20;
                most = std::max(most, held_up);
                total += held_up;
            }
            const auto channels = static_cast<int>(parameters.dram.channels);
            // Either way a bank stands still for the same share of the time.
            EXPECT_NEAR(total, channels * kSamples * share, channels * 4)
                << refresh << " " << order;
            if (order == "together")
                EXPECT_EQ(most, channels) << refresh;
            else
                EXPECT_LT(most, channels / 4) << refresh;
        }
}

}  // namespace
}  // namespace lockstep::gpu
