// SPDX-License-Identifier: Apache-2.0
// Warps that arrive at a barrier several times before it completes, or watch mbarriers that others
// complete (data/barriers.cu).
#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

class Barriers : public testing::TestWithParam<Target> {
  protected:
    KernelRunner runner{GetParam().machine,
                        std::string("barriers_") + GetParam().arch + ".cubin",
                        {},
                        GetParam().in_cycles};
};

TEST_P(Barriers, CountArrivalsOfOneWarpTwice) {
    const auto out = runner.ints(15);
    runner.launch("own_first_turn", {1}, {192}, out.data());
    for (int i = 0; i < 15; ++i) EXPECT_EQ(out[i], i % 3) << i;
}

TEST_P(Barriers, AreSeenByThoseThatPoll) {
    const auto out = runner.ints(5);
    runner.launch("watched_ring", {1}, {160}, out.data(), 64, 200);
    for (int warp = 1; warp < 5; ++warp) EXPECT_EQ(out[warp], 64) << warp;
}

INSTANTIATE_TEST_SUITE_P(Machines, Barriers,
                         testing::Values(Target{"h200", "sm_90a"}, Target{"h200", "sm_90a", true}),
                         [](const auto& test) {
                             return test.param.in_cycles ? "cycle" : "emulate";
                         });

}  // namespace
}  // namespace lockstep
