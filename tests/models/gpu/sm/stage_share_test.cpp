// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/stage_share.h"

#include <gtest/gtest.h>

namespace lockstep::gpu {
namespace {

/// Two SMs of a TPC, window by window.
class Tpc : public testing::Test {
  protected:
    static constexpr engine::Cycle kWindow = 64;

    Tpc() {
        a.connect(b);
        b.connect(a);
    }
    /// Each asks for so many passes; returns how long the first one's take.
    unsigned window(unsigned of_a, unsigned of_b) {
        a.begin_window(now, now + kWindow);
        b.begin_window(now, now + kWindow);
        const unsigned cycles = a.take(of_a);
        b.take(of_b);
        a.end_window();
        b.end_window();
        now += kWindow;
        return cycles;
    }
    StageShare a, b;
    engine::Cycle now = 1000;
};

TEST_F(Tpc, AnSmWhoseNeighbourIsIdleHasTheStageForItself) {
    EXPECT_EQ(window(40, 0), 40u);
    EXPECT_EQ(window(40, 0), 40u);
}

TEST_F(Tpc, TwoThatAreBusyGetHalfEach) {
    window(64, 64);
    EXPECT_EQ(window(32, 32), 64u);
    EXPECT_EQ(window(32, 32), 64u);
}

TEST_F(Tpc, WhatOneLeavesIsTheOthers) {
    window(48, 16);
    EXPECT_NEAR(window(48, 16), 64, 1);  // a quarter is taken
}

TEST_F(Tpc, ANeighbourThatHasSleptSinceTakesNothing) {
    window(32, 32);
    now += kWindow;
    a.begin_window(now, now + kWindow);
    EXPECT_EQ(a.take(32), 32u);
}

TEST_F(Tpc, PartsOfACycleAddUp) {
    window(0, 20);  // leaves some two thirds
    a.begin_window(now, now + kWindow);
    unsigned sum = 0;
    for (unsigned i = 0; i < 44; ++i) sum += a.take(1);
    EXPECT_NEAR(sum, 64, 1);
}

TEST(StageShare, WithoutANeighbourPassesTakeTheirTime) {
    StageShare alone;
    alone.begin_window(0, 64);
    EXPECT_EQ(alone.take(100), 100u);
    alone.end_window();
    EXPECT_FALSE(alone.is_shared());
}

}  // namespace
}  // namespace lockstep::gpu
