// SPDX-License-Identifier: Apache-2.0
// Waits for mbarriers that nobody completes end with a report; those that somebody completes late
// do not (data/mbarrier.cu).
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class MbarrierWait : public testing::TestWithParam<Target> {
  protected:
    std::string deadlock(const std::string& kernel, sass::Dim3 grid, sass::Dim3 cluster = {}) {
        runner.cluster = cluster;
        try {
            runner.launch(kernel, grid, {64}, runner.ints(128).data());
        } catch (const DeviceFault& fault) {
            EXPECT_EQ(fault.kind(), sass::FaultKind::kDeadlock) << fault.what();
            return fault.what();
        }
        return "no fault";
    }
    bool ends(const std::string& kernel, sass::Dim3 grid, std::size_t first) {
        const auto out = runner.ints(128);
        runner.launch(kernel, grid, {64}, out.data());
        const auto results = out.subspan(first, 64);
        return std::all_of(results.begin(), results.end(), [](int x) { return x == 1; });
    }

    KernelRunner runner{GetParam().machine,
                        std::string("mbarrier_") + GetParam().arch + ".cubin",
                        {},
                        GetParam().in_cycles};
};

TEST_P(MbarrierWait, NobodyArrives) {
    const std::string report = deadlock("nobody_arrives", {3});
    EXPECT_THAT(report, HasSubstr("nobody_arrives"));
    EXPECT_THAT(report, HasSubstr("warp 0"));
    EXPECT_THAT(report, HasSubstr("phase 0 of the mbarrier at shared address 0x400 (1 of 2 "
                                  "arrivals are missing)"));
    EXPECT_THAT(report, HasSubstr("warp 1"));
}

TEST_P(MbarrierWait, BytesNeverCome) {
    EXPECT_THAT(deadlock("bytes_never_come", {1}),
                HasSubstr("phase 0 of the mbarrier at shared address 0x400 (0 of 1 arrivals and "
                          "512 bytes are missing)"));
}

TEST_P(MbarrierWait, AClockDoesNotHideIt) {
    EXPECT_THAT(deadlock("waits_by_the_clock", {1}),
                HasSubstr("phase 0 of the mbarrier at shared address 0x400 (1 of 1 arrivals are "
                          "missing)"));
}

TEST_P(MbarrierWait, AClusterWaits) {
    const std::string report = deadlock("cluster_waits", {4}, {2});
    EXPECT_THAT(report, HasSubstr("(1 of 1 arrivals are missing)"));
}

TEST_P(MbarrierWait, AWarpgroupWaitsForItsFourthWarp) {
    // Blamed on the products or on the barrier where the fourth is.
    try {
        runner.launch("warpgroup_is_not_whole", {1}, {128}, runner.ints(128).data());
        FAIL();
    } catch (const DeviceFault& fault) {
        EXPECT_THAT(fault.what(), HasSubstr("warp 3 lanes 0xffffffff at barrier 0"));
    }
}

TEST_P(MbarrierWait, WhoGivesUpIsNotStuck) {
    EXPECT_TRUE(ends("gives_up", {1}, 0));
    EXPECT_TRUE(ends("counts", {1}, 0));
}

TEST_P(MbarrierWait, AnArrivalEndsASleep) {
    EXPECT_TRUE(ends("sleeps_until_somebody_arrives", {1}, 0));
}

TEST_P(MbarrierWait, AnotherBlockMayBeLate) {
    EXPECT_TRUE(ends("another_block_is_late", {2}, 2));
}

INSTANTIATE_TEST_SUITE_P(Machines, MbarrierWait,
                         testing::Values(Target{"h200", "sm_90a"}, Target{"h200", "sm_90a", true}),
                         [](const auto& test) {
                             return test.param.in_cycles ? "cycle" : "emulate";
                         });

}  // namespace
}  // namespace lockstep
