// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/time.h"

#include <gtest/gtest.h>

namespace lockstep::engine {
namespace {

TEST(ClockDomain, CyclesAndTimesConvertWithoutDrift) {
    const ClockDomain clock(505);
    EXPECT_EQ(clock.start_of(1'000'000'000'000), 505'000'000'000'000u);
    EXPECT_EQ(clock.cycle_at(clock.start_of(1'000'000'000'000) - 1), 999'999'999'999u);
    EXPECT_EQ(clock.first_cycle_from(0), 0u);
    EXPECT_EQ(clock.first_cycle_from(1), 1u);
    EXPECT_EQ(clock.first_cycle_from(505), 1u);
    EXPECT_EQ(clock.first_cycle_from(506), 2u);
}

TEST(ClockDomain, NeverStaysNever) {
    EXPECT_EQ(ClockDomain(700).start_of(kNever), kNever);
    EXPECT_EQ(ClockDomain(700).first_cycle_from(kNever), kNever);
}

TEST(ClockDomain, TakesTheNearestWholePeriod) {
    EXPECT_EQ(ClockDomain::from_megahertz(1980).period(), 505u);
    EXPECT_EQ(ClockDomain::from_megahertz(1000).period(), 1000u);
    EXPECT_EQ(ClockDomain::from_megahertz(700).period(), 1429u);
    EXPECT_THROW(ClockDomain::from_megahertz(0), InternalError);
    EXPECT_THROW(ClockDomain(0), InternalError);
}

}  // namespace
}  // namespace lockstep::engine
