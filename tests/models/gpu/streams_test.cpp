// SPDX-License-Identifier: Apache-2.0
// Kernels on one chip's time line (data/streams.cu): one after the other, beside each other on
// other SMs and on the same ones, and those that wait for what comes later.
#include <gmock/gmock.h>

#include <numeric>

#include "models/timeline.h"
#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

constexpr unsigned kSms = 14;

class Streams : public testing::TestWithParam<Target> {
  protected:
    explicit Streams(const DeviceOptions& options = {}) { make(options); }
    void make(const DeviceOptions& options) {
        runner.reset();
        runner = std::make_unique<KernelRunner>(
            GetParam().machine, std::string("streams_") + GetParam().arch + ".cubin", options,
            true);
        line = runner->device().timeline();
        results.clear();
    }
    StreamId stream(int priority = 0) {
        return line->open_stream({.priority = priority, .joins_default = false});
    }
    template <typename... Parameters>
    WorkId launch(StreamId to, const std::string& name, unsigned ctas, unsigned threads,
                  Parameters... parameters) {
        KernelWork work;
        work.request = {
            .module = runner->module(), .kernel = name, .grid = {ctas}, .block = {threads}};
        work.parameters = KernelRunner::packed(parameters...);
        results.push_back(std::make_unique<LaunchResult>());
        work.ended = [result = results.back().get()](const LaunchResult& r) { *result = r; };
        return line->submit(to, std::move(work));
    }
    void wait(WorkId work) {
        while (!line->is_done(work)) ASSERT_TRUE(line->step());
        line->resume_host();
    }
    void wait_all() {
        while (!line->is_idle(kNoStream)) ASSERT_TRUE(line->step());
        line->resume_host();
    }
    float* floats(std::size_t count) {
        return reinterpret_cast<float*>(runner->ints(count).data());
    }

    std::unique_ptr<KernelRunner> runner;
    Timeline* line = nullptr;
    std::vector<std::unique_ptr<LaunchResult>> results;
};

double metric(const LaunchResult& result, const std::string& name) {
    for (const auto& [key, value] : result.metrics)
        if (key == name) return value.as_double();
    return -1;
}

TEST_P(Streams, AKernelByItselfIsAsWithoutAHost) {
    float* x = floats(1024);
    LaunchResult alone[2];
    for (LaunchResult& result : alone) result = runner->launch("chain", {4}, {256}, x, 1000);
    make({});
    x = floats(1024);
    const StreamId a = stream();
    launch(a, "chain", 4, 256, x, 1000);
    launch(a, "chain", 4, 256, x, 1000);
    wait_all();
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(results[i]->metrics.size(), alone[i].metrics.size());
        for (std::size_t m = 0; m < alone[i].metrics.size(); ++m)
            EXPECT_EQ(results[i]->metrics[m].second.as_double(),
                      alone[i].metrics[m].second.as_double())
                << i << " " << alone[i].metrics[m].first;
    }
}

TEST_P(Streams, SmallKernelsOfFourStreamsTakeTheTimeOfOne) {
    constexpr int kRounds = 60'000;
    float* x = floats(4 * 128);
    const SimulatedTime begin = line->now();
    wait(launch(stream(), "chain", 1, 128, x, kRounds));
    const SimulatedTime one = line->now() - begin;
    for (int i = 0; i < 4; ++i) launch(stream(), "chain", 1, 128, x + 128 * i, kRounds);
    wait_all();
    const SimulatedTime four = line->now() - begin - one;
    EXPECT_LT(static_cast<double>(four), 1.3 * static_cast<double>(one));
    EXPECT_EQ(metric(*results[0], "lockstep__shared_the_chip"), -1);
    for (int i = 1; i <= 4; ++i) {
        EXPECT_EQ(metric(*results[i], "lockstep__shared_the_chip"), 1);
        EXPECT_EQ(results[i]->warp_instructions, results[0]->warp_instructions);
        EXPECT_EQ(results[i]->thread_instructions, results[0]->thread_instructions);
    }
    std::vector<float> expected(x, x + 128);
    for (int i = 1; i < 4; ++i)
        EXPECT_TRUE(std::equal(x + 128 * i, x + 128 * i + 128, x + 128)) << i;
}

TEST_P(Streams, KernelsShareSmsAsFarAsTheyFit) {
    // Two kernels of a CTA an SM: the second one's CTAs come while the first one's are there.
    auto sm = runner->ints(2 * kSms);
    auto* times = reinterpret_cast<std::uint64_t*>(runner->ints(8 * kSms).data());
    std::uint64_t* begin = times;
    std::uint64_t* end = times + 2 * kSms;
    for (unsigned i = 0; i < 2; ++i)
        launch(stream(), "where", kSms, 256, sm.data() + kSms * i, begin + kSms * i, end + kSms * i,
               3'000);
    wait_all();
    for (unsigned k = 0; k < 2; ++k) {
        std::vector<int> sms(sm.begin() + kSms * k, sm.begin() + kSms * (k + 1));
        std::sort(sms.begin(), sms.end());
        std::vector<int> all(kSms);
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(sms, all) << k;
    }
    for (unsigned i = 0; i < kSms; ++i) EXPECT_LT(begin[kSms + i], end[i]) << i;
}

TEST_P(Streams, ALaterCopyReleasesAKernelThatWaitsForIt) {
    const auto flag = runner->ints(1), out = runner->ints(32);
    const StreamId other = stream();
    const WorkId spins = launch(stream(), "spin_until", 1, 32, flag.data(), 7, out.data());
    line->submit(other, TransferWork{.bytes = 4, .perform = [&] { flag[0] = 7; }});
    wait(spins);
    EXPECT_EQ(out[31], 7);
}

TEST_P(Streams, ACopyTakesBandwidthOfDramFromAKernel) {
    constexpr int kCount = 1 << 20;  // the launch is a small part of its time
    int* const x = runner->ints(kCount).data();
    const StreamId a = stream(), b = stream();
    const auto add = [&](bool beside_a_copy) {
        if (beside_a_copy)
            line->submit(b, TransferWork{.kind = TransferKind::kDeviceToDevice,
                                         .bytes = std::uint64_t{1} << 28});
        launch(a, "add", kCount / 256, 256, x, kCount, 1);
        wait_all();
        EXPECT_EQ(metric(*results.back(), "lockstep__beside_copies"), beside_a_copy ? 1 : -1);
        return metric(*results.back(), "sm__cycles_elapsed.max");
    };
    add(false);  // translations and code are there from now on
    const double alone = add(false), beside = add(true), after = add(false);
    EXPECT_GT(beside, 1.5 * alone);
    EXPECT_LT(after, 1.05 * alone);  // refreshes come as they do
    EXPECT_EQ(x[kCount - 1], 4);
}

TEST_P(Streams, KernelsTakeBandwidthOfDramFromACopy) {
    constexpr int kCount = 1 << 18;
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 25;
    int* const x = runner->ints(kCount).data();
    const StreamId copies = stream(), kernels = stream();
    const auto copy = [&](unsigned launches) {
        SimulatedTime begin = 0, end = 0;
        line->submit(copies, MarkWork{[&](SimulatedTime at) { begin = at; }});
        line->submit(copies, TransferWork{.kind = TransferKind::kDeviceToDevice, .bytes = kBytes});
        line->submit(copies, MarkWork{[&](SimulatedTime at) { end = at; }});
        for (unsigned i = 0; i < launches; ++i)
            launch(kernels, "add", kCount / 256, 256, x, kCount, 1);
        wait_all();
        return static_cast<double>(end - begin);
    };
    copy(1);  // translations and code are there from now on
    const double alone = copy(0), beside = copy(8);
    EXPECT_GT(beside, 1.005 * alone);
    EXPECT_LT(beside, 3 * alone);  // and it ends when they have ended
    EXPECT_EQ(copy(0), alone);
    EXPECT_EQ(x[kCount - 1], 9);
}

TEST_P(Streams, ALaterKernelReleasesAKernelThatWaitsForIt) {
    const auto flag = runner->ints(1), out = runner->ints(32);
    const WorkId spins = launch(stream(), "spin_until", 1, 32, flag.data(), 5, out.data());
    launch(stream(), "store", 1, 1, flag.data(), 5);
    wait(spins);
    EXPECT_EQ(out[0], 5);
}

TEST_P(Streams, WhatTheHostWritesBeforeItWaitsIsSeen) {
    const auto flag = runner->ints(1), out = runner->ints(32);
    const WorkId spins = launch(stream(), "spin_until", 1, 32, flag.data(), 3, out.data());
    flag[0] = 3;
    wait(spins);
    EXPECT_EQ(out[7], 3);
}

TEST_P(Streams, CtasOfAPriorityStreamAreNext) {
    // The first kernel fills the chip many times over; the second one needs not wait for all of it.
    constexpr unsigned kCtas = 1500;
    float* x = floats(kCtas * 256 + 256);
    SimulatedTime low = 0, high = 0;
    const StreamId slow = stream(0), fast = stream(-1);
    launch(slow, "chain", kCtas, 256, x, 300);
    line->submit(slow, MarkWork{[&](SimulatedTime at) { low = at; }});
    launch(fast, "chain", 1, 256, x + kCtas * 256, 300);
    line->submit(fast, MarkWork{[&](SimulatedTime at) { high = at; }});
    wait_all();
    EXPECT_LT(high, low / 2);
}

TEST_P(Streams, DoNotDependOnTheHost) {
    std::vector<std::vector<std::uint64_t>> all;
    for (const DeviceOptions& options :
         {DeviceOptions{}, DeviceOptions{.threads = 3, .shuffle = 5}}) {
        make(options);
        float* x = floats(8 * 4096);
        const auto count = runner->ints(4096);
        for (int i = 0; i < 6; ++i) {
            const StreamId to = stream(-(i % 2));
            launch(to, "chain", 3 + 7 * i, 64 + 32 * i, x + 4096 * i, 100 + 50 * i);
            launch(to, "add", 16, 256, count.data(), 4096, 1 + i);
        }
        wait_all();
        std::vector<std::uint64_t>& facts = all.emplace_back();
        for (const auto& result : results) {
            facts.push_back(result->cycles);
            facts.push_back(result->warp_instructions);
        }
        facts.push_back(line->now());
    }
    EXPECT_EQ(all[0], all[1]);
}

TEST_P(Streams, AFaultEndsEverything) {
    const auto flag = runner->ints(1);
    launch(stream(), "spin_until", 1, 32, flag.data(), 1, flag.data());
    launch(stream(), "store", 1, 1, reinterpret_cast<int*>(16), 1);
    try {
        wait_all();
        FAIL();
    } catch (const DeviceFault& fault) {
        EXPECT_THAT(fault.what(), testing::HasSubstr("store"));
    }
    EXPECT_TRUE(line->is_idle(kNoStream));
    float* x = floats(256);
    wait(launch(stream(), "chain", 1, 256, x, 1));
    EXPECT_EQ(x[0], 1);
}

INSTANTIATE_TEST_SUITE_P(Machines, Streams,
                         testing::Values(Target{"h200", "sm_90", true},
                                         Target{"t4", "sm_75", true}));

}  // namespace
}  // namespace lockstep
