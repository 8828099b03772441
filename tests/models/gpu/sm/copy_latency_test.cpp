// SPDX-License-Identifier: Apache-2.0
// Threads that wait by an mbarrier for an asynchronous copy wait as long as the copy takes
// (data/copy_latency.cu).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

constexpr int kRounds = 3, kThreads = 64;

/// Shortest and longest wait of the kernel's threads.
std::pair<int, int> waits(const Target& target, const std::string& kernel) {
    KernelRunner runner(target.machine, std::string("copy_latency_") + target.arch + ".cubin", {},
                        target.in_cycles);
    const auto in = runner.ints(kRounds * kThreads), sum = runner.ints(kThreads);
    const auto cycles = runner.ints(kRounds * kThreads);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i);
    runner.launch(kernel, {1}, {kThreads}, in.data(), sum.data(), cycles.data(), kRounds);
    for (int t = 0; t < kThreads; ++t) {
        int want = 0;
        for (int r = 0; r < kRounds; ++r) want += in[r * kThreads + kThreads - 1 - t];
        EXPECT_EQ(sum[t], want);
    }
    const auto [least, most] = std::minmax_element(cycles.begin(), cycles.end());
    return {*least, *most};
}

// DRAM is at least 300 cycles away on both machines, and a page's translation is missed once.
constexpr int kLeast = 300, kMost = 4000;

TEST(CopyLatency, OfThreadsCopies) {
    for (const Target& target : {Target{"a100", "sm_80", true}, Target{"h200", "sm_90", true}}) {
        const auto [least, most] = waits(target, "copies");
        EXPECT_GT(least, kLeast) << target.machine;
        EXPECT_LT(most, kMost) << target.machine;
    }
}

TEST(CopyLatency, OfBulkCopies) {
    const auto [least, most] = waits({"h200", "sm_90", true}, "bulk_copies");
    EXPECT_GT(least, kLeast);
    EXPECT_LT(most, kMost);
}

TEST(CopyLatency, OfMoreGroupsThanAreKeptApart) {
    constexpr int kGroups = 128, kLanes = 32;
    for (const Target& target : {Target{"a100", "sm_80", true}, Target{"h200", "sm_90", true},
                                 Target{"h200", "sm_90", false}}) {
        KernelRunner runner(target.machine, std::string("copy_latency_") + target.arch + ".cubin",
                            {}, target.in_cycles);
        const auto in = runner.ints(kGroups * kLanes), sum = runner.ints(kLanes);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1009);
        runner.launch("many_groups", {1}, {kLanes}, in.data(), sum.data(), kGroups);
        for (int t = 0; t < kLanes; ++t) {
            int want = 0;
            for (int r = 0; r < kGroups; ++r)
                want += in[r * kLanes + kLanes - 1 - t] +
                        r * in[(kGroups - 1 - r) * kLanes + kLanes - 1 - t];
            EXPECT_EQ(sum[t], want) << target.machine;
        }
    }
}

TEST(CopyLatency, EmulationComputesTheSame) {
    waits({"a100", "sm_80", false}, "copies");
    waits({"h200", "sm_90", false}, "copies");
    waits({"h200", "sm_90", false}, "bulk_copies");
}

}  // namespace
}  // namespace lockstep
