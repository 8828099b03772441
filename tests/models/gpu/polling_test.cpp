// SPDX-License-Identifier: Apache-2.0
// Kernels that poll for what never comes (data/polling.cu) end with a report, whatever they poll
// with; those that poll for what does come do not.
#include <gmock/gmock.h>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class Polling : public testing::TestWithParam<Target> {
  protected:
    Polling()
        : runner(GetParam().machine, std::string("polling_") + GetParam().arch + ".cubin", {},
                 GetParam().in_cycles) {}

    template <typename... Parameters>
    std::string deadlock_of(const std::string& kernel, unsigned ctas, unsigned threads,
                            Parameters... parameters) {
        try {
            runner.launch(kernel, {ctas}, {threads}, parameters...);
        } catch (const DeviceFault& fault) {
            EXPECT_EQ(fault.kind(), sass::FaultKind::kDeadlock) << fault.what();
            return fault.what();
        }
        return "none";
    }

    KernelRunner runner;
};

TEST_P(Polling, WithLoads) {
    EXPECT_THAT(deadlock_of("poll_load", 2, 64, runner.ints(1).data()),
                HasSubstr("no thread can go on"));
}

TEST_P(Polling, SaysWhatAnEmulatedKernelCannotSee) {
    const std::string report = deadlock_of("poll_load", 1, 1, runner.ints(1).data());
    EXPECT_EQ(report.find("--mode cycle") == std::string::npos, GetParam().in_cycles) << report;
}

TEST_P(Polling, WithASumOfZero) {
    EXPECT_THAT(deadlock_of("poll_sum_of_zero", 3, 32, runner.ints(1).data()),
                HasSubstr("no thread can go on"));
}

TEST_P(Polling, WithACompareAndSwapThatFails) {
    const auto lock = runner.ints(1);
    lock[0] = 1;
    EXPECT_THAT(deadlock_of("poll_lock", 2, 1, lock.data()), HasSubstr("no thread can go on"));
    EXPECT_EQ(lock[0], 1);
}

TEST_P(Polling, WithAnExchangeOfEquals) {
    const auto lock = runner.ints(1);
    lock[0] = 1;
    EXPECT_THAT(deadlock_of("poll_exchange", 1, 1, lock.data()), HasSubstr("no thread can go on"));
}

TEST_P(Polling, InSharedMemory) {
    EXPECT_THAT(deadlock_of("poll_shared", 1, 64, runner.ints(64).data()),
                HasSubstr("no thread can go on"));
}

TEST_P(Polling, BesideStoresOfWhatIsThere) {
    const auto flags = runner.ints(2);
    EXPECT_THAT(deadlock_of("poll_and_store", 1, 1, flags.data(), flags.data() + 1, 3),
                HasSubstr("no thread can go on"));
    EXPECT_EQ(flags[1], 1);
}

TEST_P(Polling, ForALockThatAThreadOfTheSameWarpHolds) {
    const auto lock = runner.ints(1), count = runner.ints(1);
    EXPECT_EQ(deadlock_of("lock_by_thread", 8, 256, lock.data(), count.data(), 2), "none");
    EXPECT_EQ(count[0], 8 * 256 * 2);
}

TEST_P(Polling, AtABarrierOfAGridThatDoesNotFit) {
    const auto arrived = runner.ints(1), out = runner.ints(100'000);
    // 1024 threads a CTA: at most two on each SM.
    const unsigned ctas = GetParam().in_cycles ? 14 * 2 + 1 : 132 * 2 + 1;
    const std::string report = deadlock_of("grid_barrier", ctas, 1024, arrived.data(), out.data());
    EXPECT_THAT(report, HasSubstr("no thread can go on"));
    EXPECT_EQ(report.find("wait for their room") != std::string::npos, !GetParam().in_cycles)
        << report;
    EXPECT_EQ(out[0], 0);
}

TEST_P(Polling, AtABarrierOfAGridThatFits) {
    const auto arrived = runner.ints(1), out = runner.ints(20);
    runner.launch("grid_barrier", {20}, {64}, arrived.data(), out.data());
    EXPECT_THAT(out, testing::Each(20));
}

TEST_P(Polling, ForWhatComesLate) {
    const auto flag = runner.ints(1), sink = runner.ints(1), out = runner.ints(3);
    runner.launch("released_late", {3}, {1}, flag.data(), 300'000, sink.data(), out.data());
    EXPECT_THAT(out, testing::Each(1));
}

TEST_P(Polling, ForANumberThatChangesAllTheWhile) {
    const auto number = runner.ints(1), out = runner.ints(2);
    number[0] = GetParam().in_cycles ? 2'000 : 2'000'000;
    runner.launch("counted_down", {2}, {1}, number.data(), out.data());
    EXPECT_THAT(out, testing::Each(1));
}

/// A watcher that fell four rounds behind would wait for ever.
TEST_P(Polling, SeesAllThatOthersWriteToSharedMemory) {
    const auto out = runner.ints(3);
    runner.launch("watched_counter", {1}, {96}, out.data(), 64, 64);
    EXPECT_THAT(out, testing::ElementsAre(0, 64, 64));
}

TEST_P(Polling, LetsThreadsOfAWarpTakeTurns) {
    constexpr int kThreads = 128, kRounds = 3;
    const auto out = runner.ints(kThreads);
    runner.launch("turns_by_thread", {1}, {kThreads}, out.data(), kRounds);
    for (int i = 0; i < kThreads; ++i) EXPECT_EQ(out[i], kRounds * (i + kThreads)) << i;
}

TEST_P(Polling, MemoryThatAnotherCtaHasFreedIsGone) {
    const auto pointer = runner.ints(2), phase = runner.ints(1), out = runner.ints(4);
    try {
        runner.launch("read_after_free", {2}, {1}, pointer.data(), phase.data(), out.data());
        FAIL() << "read " << out[3];
    } catch (const DeviceFault& fault) {
        EXPECT_EQ(fault.kind(), sass::FaultKind::kIllegalAddress) << fault.what();
    }
    EXPECT_EQ(out[1], 5);
}

constexpr Target kTargets[] = {
    {"t4", "sm_75"}, {"h200", "sm_90"}, {"t4", "sm_75", true}, {"h200", "sm_90", true}};
INSTANTIATE_TEST_SUITE_P(Devices, Polling, testing::ValuesIn(kTargets), [](const auto& test) {
    return std::string(test.param.arch) + (test.param.in_cycles ? "_in_cycles" : "_emulated");
});

}  // namespace
}  // namespace lockstep
