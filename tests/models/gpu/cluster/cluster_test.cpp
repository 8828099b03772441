// SPDX-License-Identifier: Apache-2.0
// Clusters of CTAs, distributed shared memory and what goes with them (data/cluster.cu).
#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <numeric>

#include "models/timeline.h"
#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class Cluster : public testing::TestWithParam<Target> {
  protected:
    std::string fault(const std::string& kernel, sass::Dim3 grid, sass::Dim3 block,
                      sass::FaultKind kind) {
        try {
            runner.launch(kernel, grid, block, runner.ints(1024).data());
        } catch (const DeviceFault& fault) {
            EXPECT_EQ(fault.kind(), kind) << fault.what();
            return fault.what();
        }
        return "no fault";
    }

    KernelRunner runner{GetParam().machine,
                        std::string("cluster_") + GetParam().arch + ".cubin",
                        {},
                        GetParam().in_cycles};
};

TEST_P(Cluster, CtasReadEachOthersSharedMemory) {
    const auto out = runner.ints(6 * 32);
    runner.cluster = {2};
    runner.launch("exchange", {6}, {32}, out.data());
    for (int i = 0; i < 6 * 32; ++i) EXPECT_EQ(out[i], (i / 32 ^ 1) % 2 * 100 + 31 - i % 32) << i;
}

TEST_P(Cluster, CtasKnowWhereTheyAre) {
    const auto out = runner.ints(8 * 6 * 4);
    runner.cluster = {3, 2};
    runner.launch("identities", {6, 4}, {32}, out.data());
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 6; ++x)
            EXPECT_THAT(
                out.subspan(8 * (6 * y + x), 8),
                testing::ElementsAre(y % 2 * 3 + x % 3, 6, x % 3, y % 2, x / 3, y / 2, 2, 1))
                << x << "," << y;
}

TEST_P(Cluster, AKernelWithoutClustersIsItsOwn) {
    const auto out = runner.ints(8 * 2);
    runner.launch("identities", {2}, {32}, out.data());
    EXPECT_THAT(out.subspan(8), testing::ElementsAre(0, 1, 0, 0, 1, 0, 2, 0));
}

TEST_P(Cluster, CtasOfAClusterKeepPace) {
    const auto out = runner.ints(6 * 32);
    runner.cluster = {2};
    runner.launch("stores_before_exit", {6}, {32}, out.data());
    for (const int x : out) EXPECT_EQ(x, 1);
}

TEST_P(Cluster, AtomicsReachAllCtas) {
    const auto sums = runner.ints(8 * 32), floats = runner.ints(8 * 32);
    runner.cluster = {4};
    runner.launch("atomics", {8}, {32}, sums.data(), floats.data());
    for (int i = 0; i < 8 * 32; ++i) {
        EXPECT_EQ(sums[i], 1 + 2 + 3 + 4) << i;
        EXPECT_EQ(std::bit_cast<float>(floats[i]), i % 32 < 4 ? 32.0f : 0.0f) << i;
    }
}

TEST_P(Cluster, AsynchronousStoresAndReductionsEndPhases) {
    const auto out = runner.ints(8 * 64);
    runner.cluster = {4};
    runner.launch("asynchronous", {8}, {32}, out.data());
    for (int cta = 0; cta < 8; ++cta) {
        for (int t = 0; t < 32; ++t) EXPECT_EQ(out[cta * 64 + t], (cta + 3) % 4 * 1000 + t);
        for (int i = 0; i < 4; ++i) EXPECT_EQ(out[cta * 64 + 32 + i], 8 * (10 - (cta % 4 + 1)));
    }
}

TEST_P(Cluster, AnArrivalAtAnotherCtasMbarrierComesAfterWhatWasStored) {
    const auto out = runner.ints(32);
    runner.cluster = {2};
    runner.launch("remote_arrival", {2}, {32}, out.data());
    EXPECT_THAT(out, testing::Each(77));
}

TEST_P(Cluster, WarpsHandRegistersToEachOther) {
    const auto out = runner.ints(384);
    runner.launch("hand_over_registers", {1}, {384}, out.data());
    for (int t = 0; t < 384; ++t) EXPECT_EQ(out[t], t < 128 ? 2 : 1) << t;
}

TEST_P(Cluster, APoolOfRegistersThatIsTooSmallIsADeadlock) {
    EXPECT_THAT(fault("hand_over_too_few", {1}, {384}, sass::FaultKind::kDeadlock),
                HasSubstr("setmaxnreg.inc to 240 registers"));
}

TEST_P(Cluster, AReadOfAnExitedCtasMemoryFaults) {
    runner.cluster = {2};
    EXPECT_THAT(fault("reads_after_exit", {2}, {32}, sass::FaultKind::kLaunchFailure),
                HasSubstr("rank 1 of the cluster of 2, which has exited"));
}

TEST_P(Cluster, AReadOfACtaThatIsNotThereFaults) {
    runner.cluster = {2};
    EXPECT_THAT(fault("reads_nobody", {2}, {32}, sass::FaultKind::kIllegalAddress),
                HasSubstr("CTA of rank 3; the cluster has 2"));
}

TEST_P(Cluster, ABarrierThatIsNeverReachedByAllIsADeadlock) {
    runner.cluster = {2};
    EXPECT_THAT(fault("never_all_there", {2}, {64}, sass::FaultKind::kDeadlock),
                HasSubstr("CTAs of rank 1 have not arrived at barrier.cluster"));
}

TEST_P(Cluster, LaunchesAreCheckedAsTheDriverDoes) {
    const auto out = runner.ints(1024);
    const auto refused = [&](sass::Dim3 grid, sass::Dim3 cluster, const char* kernel) {
        runner.cluster = cluster;
        try {
            runner.launch(kernel, grid, {32}, out.data());
        } catch (const LaunchRefused& error) {
            EXPECT_EQ(error.reason(), LaunchRefused::Reason::kInvalidCluster);
            return std::string(error.what());
        }
        return std::string("not refused");
    };
    EXPECT_THAT(refused({3}, {2}, "identities"),
                HasSubstr("grid (3,1,1) is not a multiple of the cluster (2,1,1)"));
    EXPECT_THAT(refused({17}, {17}, "identities"), HasSubstr("has 17 CTAs, at most 16"));
    EXPECT_THAT(refused({4}, {4}, "exchange"),
                HasSubstr("is not the (2,1,1) that it was compiled for"));
}

/// The cycle model's own.
TEST(ClusterInCycles, ResultsDoNotDependOnThreadsOrTheOrderOfUnits) {
    std::vector<std::uint64_t> cycles;
    for (const DeviceOptions& options :
         {DeviceOptions{}, DeviceOptions{.threads = 3}, DeviceOptions{.shuffle = 5}}) {
        KernelRunner runner("h200", "cluster_sm_90a.cubin", options, true);
        const auto out = runner.ints(8 * 64);
        runner.cluster = {4};
        cycles.push_back(runner.launch("asynchronous", {8}, {32}, out.data()).cycles);
    }
    EXPECT_EQ(cycles[0], cycles[1]);
    EXPECT_EQ(cycles[0], cycles[2]);
}

TEST(ClusterInCycles, MoreClustersThanFitWaitForRoom) {
    // 14 SMs in 7 GPCs hold seven clusters of two CTAs of 64 warps at a time.
    KernelRunner runner("h200", "cluster_sm_90a.cubin", {}, true);
    const auto out = runner.ints(64 * 32);
    runner.cluster = {2};
    runner.dynamic_shared_bytes = 200 * 1024;
    const std::uint64_t seven = runner.launch("exchange", {14}, {32}, out.data()).cycles;
    const std::uint64_t eight = runner.launch("exchange", {16}, {32}, out.data()).cycles;
    EXPECT_GT(eight, seven + 300);
    for (int i = 0; i < 16 * 32; ++i) EXPECT_EQ(out[i], (i / 32 ^ 1) % 2 * 100 + 31 - i % 32) << i;
}

class ClusterChecks : public testing::Test {
  protected:
    std::string report(unsigned checks, const std::string& kernel, int argument) {
        KernelRunner runner("h200", "cluster_sm_90a.cubin", {.checks = checks});
        runner.cluster = {2};
        testing::internal::CaptureStderr();
        if (kernel == "races")
            runner.launch(kernel, {2}, {32}, runner.ints(64).data(), argument);
        else
            runner.launch(kernel, {2}, {32}, runner.ints(64).data());
        return testing::internal::GetCapturedStderr();
    }
};

TEST_F(ClusterChecks, FindRacesBetweenCtas) {
    EXPECT_THAT(report(kCheckRace, "races", 0), HasSubstr("race: "));
    EXPECT_THAT(report(kCheckRace, "exchange", 0), testing::IsEmpty());
    EXPECT_THAT(report(kCheckRace, "remote_arrival", 0), testing::IsEmpty());
}

TEST_F(ClusterChecks, FindReadsOfWhatNobodyWrote) {
    EXPECT_THAT(report(kCheckInit, "reads_unwritten", 0), HasSubstr("LD.E"));
    EXPECT_THAT(report(kCheckInit, "exchange", 0), testing::IsEmpty());
}

TEST_F(ClusterChecks, KnowWhatCopiesBringToOthers) {
    KernelRunner runner("h200", "cluster_sm_90a.cubin", {.checks = kCheckInit | kCheckHazards});
    runner.cluster = {2};
    const auto in = runner.ints(32), out = runner.ints(64);
    std::iota(in.begin(), in.end(), 7);
    runner.device().note_host_write(reinterpret_cast<DevicePointer>(in.data()), in.size_bytes());
    const auto report = [&](int early) {
        testing::internal::CaptureStderr();
        runner.launch("copies_to_others", {2}, {32}, in.data(), out.data(), early);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_THAT(report(0), testing::IsEmpty());
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 7 + i % 32) << i;
    EXPECT_THAT(report(1),
                testing::AllOf(HasSubstr("a tile is read before the phase of its mbarrier was"),
                               HasSubstr("by           CTA (1,0,0) thread (0,0,0)"),
                               HasSubstr("copy by      CTA (0,0,0) thread (0,0,0)")));
}

TEST_F(ClusterChecks, FindAccessesBeforeTheOtherCtaIsKnownToHaveStarted) {
    EXPECT_THAT(report(kCheckSync, "races", 1),
                HasSubstr("before any barrier.cluster: it may not have started"));
    EXPECT_THAT(report(kCheckSync, "races", 0), testing::IsEmpty());
    EXPECT_THAT(report(kCheckSync, "exchange", 0), testing::IsEmpty());
}

/// Two kernels of a stream; the second may begin before the first has ended.
std::array<std::int64_t, 4> times_of_dependent_launches(bool programmatic, int& result) {
    KernelRunner runner("h200", "cluster_sm_90a.cubin", {}, true);
    const auto word = runner.ints(1), out = runner.ints(1), times = runner.ints(8);
    Timeline& timeline = *runner.device().timeline();
    const auto submit = [&](const std::string& kernel, std::vector<std::byte> parameters,
                            bool is_programmatic) {
        KernelWork work;
        work.request.module = runner.module();
        work.request.kernel = kernel;
        work.request.block = {32};
        work.request.programmatic = is_programmatic;
        work.parameters = std::move(parameters);
        timeline.submit(kDefaultStream, std::move(work));
    };
    submit("primary", KernelRunner::packed(word.data(), times.data()), false);
    submit("secondary", KernelRunner::packed(word.data(), out.data(), times.data()), programmatic);
    while (timeline.step()) {
    }
    result = out[0];
    std::array<std::int64_t, 4> clocks;
    std::memcpy(clocks.data(), times.data(), sizeof clocks);
    return clocks;
}

TEST(DependentLaunches, BeginWhenTriggeredAndWaitForTheEnd) {
    int result = 0;
    const auto overlapped = times_of_dependent_launches(true, result);
    EXPECT_EQ(result, 7);
    EXPECT_LT(overlapped[2], overlapped[1]);  // began before the first one's end
    EXPECT_GE(overlapped[3], overlapped[1]);  // and waited for it
    const auto serial = times_of_dependent_launches(false, result);
    EXPECT_EQ(result, 7);
    EXPECT_GT(serial[2], serial[1]);
    EXPECT_LT(overlapped[3] - overlapped[1], serial[3] - serial[1]);
}

INSTANTIATE_TEST_SUITE_P(Machines, Cluster,
                         testing::Values(Target{"h200", "sm_90a"}, Target{"h200", "sm_90a", true}));

}  // namespace
}  // namespace lockstep
