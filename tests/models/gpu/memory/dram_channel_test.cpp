// SPDX-License-Identifier: Apache-2.0
// A channel behind its clock: how long it takes does not depend on the time of day.
#include "models/gpu/memory/dram_channel.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

using engine::Cycle;

/// How long a read takes that leaves L2 at a cycle.
Cycle latency(Cycle at) {
    const auto machine = config::Machine::load("h200", {"dram.refresh=none"});
    const MemoryParameters parameters = MemoryParameters::of(*machine);
    DramChannel channel(parameters);
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
    const Cycle first = latency(100);
    EXPECT_GT(first, 150u);
    for (const double seconds : {5.7, 5.8, 11.5, 60., 3600. * 24})
        EXPECT_NEAR(double(latency(static_cast<Cycle>(seconds * 1.98e9))), double(first), 2)
            << seconds;
}

}  // namespace
}  // namespace lockstep::gpu
