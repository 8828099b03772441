// SPDX-License-Identifier: Apache-2.0
// The same cycles and counters for any number of threads, order of Tiles and length of windows.
#include <gtest/gtest.h>

#include <random>

#include "tests/models/gpu/memory/synthetic_sm.h"

namespace lockstep::gpu {
namespace {

struct Outcome {
    std::vector<engine::Cycle> answered;
    PartitionCounters counters;
};

/// Random traffic of all kinds over few lines, with a small L2 so that lines are evicted.
Outcome run(const char* machine, engine::SimulationOptions options) {
    MemoryBench bench(machine, 12,
                      {"l2.size=1MiB", "l2.mshrs=8", "l2.write_back_buffer=8", "tlb.warm=false"},
                      std::move(options));
    for (auto& sm : bench.sms) {
        std::mt19937 random(sm->port.sm());
        sm->window = 40;
        for (int i = 0; i < 1000; ++i) {
            MemoryRequest request{.line = random() % 20000};
            request.kind = static_cast<RequestKind>(random() % 4);
            request.sectors = static_cast<std::uint8_t>(1 + random() % 15);
            request.partial = static_cast<std::uint8_t>(request.sectors & random());
            request.lanes = static_cast<std::uint8_t>(1 + random() % 32);
            request.same_address = static_cast<std::uint8_t>(1 + random() % request.lanes);
            request.priority = static_cast<EvictionPriority>(random() % 5);
            request.translated = random() % 8 != 0;
            sm->requests.push_back(request);
        }
    }
    bench.run();
    Outcome out;
    for (auto& sm : bench.sms)
        for (std::size_t i = 0; i < sm->answers.size(); ++i) {
            EXPECT_EQ(sm->answers[i].sectors, sm->requests[i].sectors);
            out.answered.push_back(sm->answers[i].answered);
        }
    out.counters = bench.system->counters();
    return out;
}

class Determinism : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(MemorySystem, Determinism, testing::Values("h200", "rtx4090", "v100"));

TEST_P(Determinism, ThreadsOrderAndWindowsDoNotMatter) {
    const Outcome expected = run(GetParam(), {});
    EXPECT_GT(expected.counters.write_backs, 0u);
    EXPECT_GT(expected.counters.tlb_misses, 0u);
    for (const engine::SimulationOptions& options :
         {engine::SimulationOptions{.threads = 3}, engine::SimulationOptions{.shuffle = 7},
          engine::SimulationOptions{.max_window = 2000}}) {
        const Outcome other = run(GetParam(), options);
        EXPECT_EQ(other.answered, expected.answered);
        EXPECT_EQ(other.counters, expected.counters);
    }
}

}  // namespace
}  // namespace lockstep::gpu
