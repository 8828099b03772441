// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/reference/threads.h"

#include <gtest/gtest.h>

#include <atomic>

#include "workloads/network/builtin/builtin.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network {
namespace {

TEST(Threads, RangesMakeUpTheWhole) {
    reference::own_threads = 3;
    for (const std::int64_t count : {0, 1, 7, 8, 9, 24, 100})
        for (const std::int64_t grain : {1, 8, 64}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
            std::atomic<int> calls = 0;
            reference::for_ranges(count, grain, 1e9, [&](std::int64_t begin, std::int64_t end) {
                ++calls;
                EXPECT_EQ(begin % grain, 0);
                for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
            });
            for (const auto& times : seen) EXPECT_EQ(times, 1);
            EXPECT_EQ(calls, std::clamp<std::int64_t>((count + grain - 1) / grain, 1, 3));
        }
    int calls = 0;  // too little to share
    reference::for_ranges(100, 1, 1000, [&](std::int64_t, std::int64_t) { ++calls; });
    EXPECT_EQ(calls, 1);
    reference::own_threads = 1;
}

TEST(Threads, ATimedRunComputesTheSame) {
    const Graph graph = build_network("resnet18", {});
    const std::vector<Tensor> inputs = seeded_inputs(graph, 1);
    const std::vector<float> one = to_floats(execute(graph, inputs).at(0));
    for (const unsigned threads : {1u, 4u}) {
        const TimedRun run = execute_timed(graph, inputs, threads);
        const std::vector<float> got = to_floats(run.outputs.at(0));
        ASSERT_EQ(got.size(), one.size());
        for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(got[i], one[i], 1e-3);
        ASSERT_EQ(run.seconds.size(), graph.nodes.size());
        EXPECT_GT(*std::max_element(run.seconds.begin(), run.seconds.end()), 0);
    }
    EXPECT_EQ(reference::own_threads, 1u);
}

}  // namespace
}  // namespace lockstep::network
