// SPDX-License-Identifier: Apache-2.0
// Threads that communicate (data/ordering.cu), emulated and in cycles: what they may rely on holds,
// and results and cycles do not depend on host threads or on the order in which units take turns.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

class Ordering : public testing::TestWithParam<Target> {
  protected:
    /// Runs `body` on fresh devices; it returns what must not depend on the host.
    void on_devices(const std::function<std::vector<std::uint64_t>(KernelRunner&)>& body) {
        std::vector<std::vector<std::uint64_t>> results;
        for (const DeviceOptions& options :
             {DeviceOptions{}, DeviceOptions{.threads = 3, .shuffle = 5}}) {
            KernelRunner runner(GetParam().machine,
                                std::string("ordering_") + GetParam().arch + ".cubin", options,
                                GetParam().in_cycles);
            results.push_back(body(runner));
        }
        EXPECT_EQ(results[0], results[1]);
    }
};

std::vector<std::uint64_t> facts(const LaunchResult& result, std::span<const int> memory = {}) {
    std::vector<std::uint64_t> all(memory.begin(), memory.end());
    all.push_back(result.cycles);
    all.push_back(result.warp_instructions);
    return all;
}

TEST_P(Ordering, MessagePassing) {
    on_devices([](KernelRunner& runner) {
        const auto data = runner.ints(64), flags = runner.ints(2), wrong = runner.ints(1);
        const LaunchResult result = runner.launch("message_passing", {4}, {64}, data.data(),
                                                  flags.data(), wrong.data(), 10);
        EXPECT_EQ(wrong[0], 0);
        EXPECT_EQ(flags[1], 30);
        return facts(result);
    });
}

TEST_P(Ordering, OneOfTwoSeesTheOthersWrite) {
    for (const int kind : {0, 1, 2})
        on_devices([&](KernelRunner& runner) {
            constexpr int kCount = 1000;
            const auto x = runner.ints(kCount), y = runner.ints(kCount);
            const auto seen = runner.ints(2 * kCount);
            const LaunchResult result = runner.launch("store_buffering", {2}, {32}, x.data(),
                                                      y.data(), seen.data(), kCount, kind);
            for (int i = 0; i < kCount; ++i)
                EXPECT_TRUE(seen[2 * i] != 0 || seen[2 * i + 1] != 0) << i << " kind " << kind;
            return facts(result, seen);
        });
}

TEST_P(Ordering, LocksExclude) {
    for (const int by_store : {0, 1})
        on_devices([&](KernelRunner& runner) {
            const auto lock = runner.ints(1), counter = runner.ints(1);
            const LaunchResult result = runner.launch("locked_counter", {12}, {32}, lock.data(),
                                                      counter.data(), 5, by_store);
            EXPECT_EQ(counter[0], 60);
            EXPECT_EQ(lock[0], 0);
            return facts(result);
        });
}

TEST_P(Ordering, LastBlockAddsUpAll) {
    on_devices([](KernelRunner& runner) {
        const auto in = runner.ints(20 * 64), partial = runner.ints(20), done = runner.ints(1);
        const auto out = runner.ints(1);
        std::iota(in.begin(), in.end(), -300);
        const LaunchResult result = runner.launch("last_block", {20}, {64}, in.data(),
                                                  partial.data(), done.data(), out.data());
        EXPECT_EQ(out[0], std::accumulate(in.begin(), in.end(), 0));
        EXPECT_EQ(done[0], 0);
        return facts(result, partial);
    });
}

TEST_P(Ordering, WorkIsTakenOnce) {
    on_devices([](KernelRunner& runner) {
        const auto next = runner.ints(1), taken = runner.ints(300);
        const LaunchResult result =
            runner.launch("work_queue", {13}, {64}, next.data(), taken.data(), 300);
        EXPECT_THAT(taken, testing::Each(1));
        EXPECT_EQ(next[0], 313);
        return facts(result);
    });
}

TEST_P(Ordering, StackHoldsAllNodes) {
    on_devices([](KernelRunner& runner) {
        constexpr int kNodes = 6 * 64;
        const auto head = runner.ints(1), next = runner.ints(kNodes);
        head[0] = -1;
        const LaunchResult result =
            runner.launch("push_nodes", {6}, {64}, head.data(), next.data());
        std::vector<bool> found(kNodes);
        int count = 0;
        for (int node = head[0]; node != -1 && count <= kNodes; node = next[node], ++count)
            found.at(node) = true;
        EXPECT_EQ(count, kNodes);
        EXPECT_EQ(std::count(found.begin(), found.end(), true), kNodes);
        return facts(result, next);
    });
}

TEST_P(Ordering, AThreadSeesItsOwnAccessesInOrder) {
    on_devices([](KernelRunner& runner) {
        const auto words = runner.ints(8 * 96), out = runner.ints(8 * 96);
        const LaunchResult result =
            runner.launch("own_order", {8}, {96}, words.data(), out.data(), 4);
        EXPECT_THAT(out, testing::Each(0));
        return facts(result, words);
    });
}

TEST_P(Ordering, ACtaSeesWhatCameBeforeItsBarrier) {
    on_devices([](KernelRunner& runner) {
        const auto words = runner.ints(8 * 96), out = runner.ints(8 * 96);
        const LaunchResult result =
            runner.launch("seen_by_cta", {8}, {96}, words.data(), out.data(), 5);
        EXPECT_THAT(out, testing::Each(0));
        EXPECT_THAT(words, testing::Each(5));
        return facts(result);
    });
}

TEST_P(Ordering, SystemCallsComeOneByOne) {
    std::vector<std::string> texts;
    on_devices([&](KernelRunner& runner) {
        std::string& text = texts.emplace_back();
        runner.device().set_printf_output([&](std::string_view part) { text += part; });
        const auto out = runner.ints(9 * 64);
        const LaunchResult result = runner.launch("call_system", {9}, {64}, out.data());
        for (int t = 0; t < 9 * 64; ++t) EXPECT_EQ(out[t], t);
        for (int block = 0; block < 9; ++block)
            EXPECT_THAT(text, testing::HasSubstr("block " + std::to_string(block) + "\n"));
        return facts(result);
    });
    EXPECT_EQ(texts.at(0), texts.at(1));
}

constexpr Target kTargets[] = {{"t4", "sm_75"},         {"a100", "sm_80"},
                               {"h200", "sm_90"},       {"t4", "sm_75", true},
                               {"a100", "sm_80", true}, {"h200", "sm_90", true}};
INSTANTIATE_TEST_SUITE_P(Devices, Ordering, testing::ValuesIn(kTargets), [](const auto& test) {
    return std::string(test.param.arch) + (test.param.in_cycles ? "_in_cycles" : "_emulated");
});

}  // namespace
}  // namespace lockstep
