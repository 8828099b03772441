// SPDX-License-Identifier: Apache-2.0
// Barrier misuse that hardware lets pass is found.
#include "tests/models/gpu/check/check_fixture.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Sync : public CheckTest {
  protected:
    KernelRunner runner_ = make(kCheckSync);
    std::span<int> out_ = runner_.ints(1024);

    std::string run(const std::string& kernel, unsigned threads, int parameter) {
        return report(runner_, kernel, {1}, {threads}, out_.data(), parameter);
    }
};

TEST_P(Sync, ThreadsThatHaveEnded) {
    EXPECT_THAT(run("exit_before_barrier", 128, 128), IsEmpty());
    EXPECT_THAT(run("exit_before_barrier", 128, 0), IsEmpty()) << "nobody comes to the barrier";
    EXPECT_THAT(run("exit_before_barrier", 128, 100),
                AllOf(HasSubstr("sync: barrier 0 for all threads, of which some have ended, once"),
                      HasSubstr("BAR.SYNC"),
                      HasSubstr("  ended        CTA (0,0,0) thread (100,0,0)"), HasSubstr("EXIT")));
}

TEST_P(Sync, Counts) {
    EXPECT_THAT(run("wrong_counts", 64, 64), IsEmpty());
    EXPECT_THAT(run("wrong_counts", 64, 96),
                HasSubstr("sync: barrier 2 for 96 threads in a CTA of 64"));
    EXPECT_THAT(run("wrong_counts", 96, 96), AllOf(HasSubstr("sync: barrier 2 for "),
                                                   HasSubstr("while others wait at it for ")));
}

TEST_P(Sync, TwoPlaces) {
    EXPECT_THAT(run("two_places", 64, 0), IsEmpty()) << "barrier.sync";
    EXPECT_THAT(run("two_places", 64, 1),
                HasSubstr("sync: threads of a warp come to barrier 0 from two places"));
}

TEST(SyncOfNamedBarriers, AWarpMayArriveAgain) {
    KernelRunner runner{"h200", "barriers_sm_90a.cubin", {.checks = kCheckSync}};
    EXPECT_THAT(CheckTest::report(runner, "own_first_turn", {1}, {192}, runner.ints(15).data()),
                IsEmpty());
}

TEST_P(Sync, MasksOfWarps) {
    EXPECT_THAT(run("sync_warp", 32, 0xff), IsEmpty());
    EXPECT_THAT(run("sync_warp", 32, 0x7f),
                AllOf(HasSubstr("sync: lane 7 synchronises with the lanes 0x0000007f, which do not "
                                "hold itself"),
                      HasSubstr("thread (7,0,0)")));
}

INSTANTIATE_TEST_SUITE_P(Devices, Sync, testing::ValuesIn(kCheckTargets), name_of_target);

}  // namespace
}  // namespace lockstep
