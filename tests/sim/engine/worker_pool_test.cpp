// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/worker_pool.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lockstep::engine {
namespace {

TEST(WorkerPool, RunsEachTaskOnceForAnyNumberOfThreads) {
    for (const unsigned threads : {1u, 2u, 3u, 5u}) {
        WorkerPool pool(threads);
        for (std::uint32_t count = 0; count < 150; ++count) {
            std::vector<int> runs(count, 0);
            bool here = false;
            const std::thread::id caller = std::this_thread::get_id();
            pool.run(
                count, [&](std::uint32_t i) { ++runs[i]; },
                [&] { here = std::this_thread::get_id() == caller; });
            EXPECT_TRUE(here);
            EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), 0), static_cast<int>(count));
            for (const int n : runs) EXPECT_EQ(n, 1);
        }
    }
}

TEST(WorkerPool, SleepsBetweenWindowsAndWakesAgain) {
    WorkerPool pool(2);
    for (int round = 0; round < 3; ++round) {
        std::atomic<int> sum{0};
        pool.run(
            10, [&](std::uint32_t i) { sum += static_cast<int>(i); }, [] {});
        EXPECT_EQ(sum, 45);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // past the spinning
    }
}

}  // namespace
}  // namespace lockstep::engine
