// SPDX-License-Identifier: Apache-2.0
// Set hash and replacement against what loads of an L40 lose in rings a little larger than its L2:
// from the latencies of gpu-benches, gpu-latency/l40.txt (276 to 284 cycles where all hit, 631
// where none does). AD102, as rtx4090; a smaller L2, for the shares go by the ratio.
#include "models/gpu/memory/l2_tags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "models/gpu/memory/line_map.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {
namespace {

/// Misses by loads of a ring of every 64th byte in random order, once it has been gone through.
double missed(double ratio) {
    const auto machine = config::Machine::load("rtx4090", std::vector<std::string>{"l2.size=9MiB"});
    const MemoryParameters parameters = MemoryParameters::of(*machine);
    const LineMap map(parameters);
    std::vector<L2Tags> slices(map.slices(), L2Tags(parameters.sets, parameters.ways));
    const auto lines = static_cast<double>(map.slices() * parameters.sets * parameters.ways);
    std::vector<std::uint32_t> ring(static_cast<std::size_t>(2 * ratio * lines));
    std::iota(ring.begin(), ring.end(), 0u);
    std::shuffle(ring.begin(), ring.end(), std::mt19937(1));
    std::size_t misses = 0;
    for (int round = 0; round < 3; ++round) {
        misses = 0;
        for (const std::uint32_t place : ring) {
            const LinePlace at = map.find(place / 2);
            L2Tags& tags = slices[at.slice];
            const std::uint32_t key = L2Tags::key(at.index, at.l2_partition), set = tags.set(key);
            std::uint32_t slot = tags.find(set, key);
            if (slot == L2Tags::kNone) {
                slot = tags.victim(set, false);
                tags.place(slot, key);
            }
            tags.touch(slot);
            const auto half = static_cast<std::uint8_t>(3u << 2 * (place % 2));
            misses += (tags.line(slot).valid & half) == 0;
            tags.line(slot).valid |= half;
        }
    }
    return static_cast<double>(misses) / static_cast<double>(ring.size());
}

TEST(L2Tags, LoseAsMuchOfALargeRingAsMeasured) {
    EXPECT_NEAR(missed(0.95), 0.01, 0.03);
    EXPECT_NEAR(missed(1.03), 0.26, 0.06);
    EXPECT_NEAR(missed(1.07), 0.46, 0.06);
    EXPECT_NEAR(missed(1.115), 0.61, 0.06);
    EXPECT_NEAR(missed(1.21), 0.80, 0.06);
}

}  // namespace
}  // namespace lockstep::gpu
