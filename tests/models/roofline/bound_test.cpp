// SPDX-License-Identifier: Apache-2.0
#include "models/roofline/bound.h"

#include <gtest/gtest.h>

#include "models/roofline/parameter_rows.h"
#include "sim/error/error.h"

namespace lockstep::roofline {
namespace {

TEST(Roofline, TheSlowerOfComputingAndMovingBinds) {
    const Bound computing = bound(10e12, 500e9, 20e12, 500e9),
                moving = bound(10e12, 500e9, 1, 1e12);
    EXPECT_DOUBLE_EQ(computing.seconds, 2);
    EXPECT_FALSE(computing.by_memory);
    EXPECT_DOUBLE_EQ(moving.seconds, 2);
    EXPECT_TRUE(moving.by_memory);
    EXPECT_THROW(bound(0, 1, 1, 1), InternalError);
}

TEST(Roofline, AMachineHasPeaksForSomePrecisionsOnly) {
    const Parameters gtx580(*config::Machine::load("gtx580"));
    EXPECT_GT(gtx580.operations_per_second("fp32"), 0);
    EXPECT_EQ(gtx580.operations_per_second("fp16"), 0);
    EXPECT_EQ(gtx580.operations_per_second("fp128"), 0);
}

// Lanes, two operations each, and the clock make fp32's peak.
TEST(Roofline, PeaksAgreeWithLanesAndClock) {
    for (const std::string& name : config::Machine::names()) {
        const auto machine = config::Machine::load(name);
        if (machine->kind() != "roofline") continue;
        const Parameters sheet(*machine);
        const double made = 2.0 * sheet.units * sheet.lanes * sheet.clock_mhz * 1e6;
        EXPECT_NEAR(sheet.operations_per_second("fp32") / made, 1, 0.05) << name;
    }
}

}  // namespace
}  // namespace lockstep::roofline
