// SPDX-License-Identifier: Apache-2.0
#include "models/energy/power_cap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/energy/account.h"
#include "sim/error/error.h"

namespace lockstep::energy {
namespace {

using config::Machine;

double value(const stats::Metrics& metrics, std::string_view wanted) {
    for (const auto& [name, value] : metrics)
        if (name == wanted) return value.as_double();
    return -1;
}

/// Two steps of a second each: one at 75 W at rest and 100 W of DRAM, one at rest only.
stats::Statistics priced() {
    const auto machine = Machine::load("a100");
    stats::Statistics run("a100", "cycle", "workload");
    constexpr double kBytes = 100 / (8 * 13.11e-12);
    for (const double bytes : {kBytes, 0.0}) {
        stats::Step step;
        step.name = "step";
        step.metrics = {{"gpu__time_duration.sum", 1e9}, {"dram__bytes.sum", bytes}};
        run.add(std::move(step));
    }
    Account(machine).add_to(run);
    return run;
}

TEST(PowerCap, LowersTheClockUntilTheLimitHolds) {
    stats::Statistics run = priced();
    cap_power(run, 125);
    const stats::Metrics &busy = run.steps()[0].metrics, &idle = run.steps()[1].metrics;
    // 100 J of events at the 50 W that rest leaves take two seconds.
    EXPECT_NEAR(value(busy, "power_cap.seconds"), 2, 1e-9);
    EXPECT_NEAR(value(busy, "power_cap.energy"), 250, 1e-6);
    EXPECT_NEAR(value(idle, "power_cap.seconds"), 1, 1e-9);
    EXPECT_NEAR(value(run.totals(), "power_cap.seconds"), 3, 1e-9);
    EXPECT_NEAR(value(run.totals(), "power_cap.slowed.pct"), 50, 1e-9);
    EXPECT_THAT(power_cap_report(run), testing::HasSubstr("125 W"));
}

TEST(PowerCap, AboveThePowerChangesNothing) {
    stats::Statistics run = priced();
    cap_power(run, 400);
    EXPECT_NEAR(value(run.totals(), "power_cap.seconds"), 2, 1e-9);
    EXPECT_NEAR(value(run.totals(), "power_cap.energy"), value(run.totals(), "energy.total"), 1e-9);
    EXPECT_EQ(value(run.totals(), "power_cap.slowed.pct"), 0);
}

TEST(PowerCap, RefusesLimitsThatCannotBeHeld) {
    stats::Statistics run = priced();
    EXPECT_THROW(cap_power(run, 75), InputError);
    const auto a100 = Machine::load("a100"), npu = Machine::load("npu_mobile");
    EXPECT_EQ(power_limit(*a100, "limit"), 400);
    EXPECT_EQ(power_limit(*a100, "250.5"), 250.5);
    EXPECT_THROW(power_limit(*npu, "limit"), InputError);
    for (const char* wrong : {"", "-5", "0", "250W", "nan", "inf", "limits"})
        EXPECT_THROW(power_limit(*a100, wrong), InputError) << wrong;
}

}  // namespace
}  // namespace lockstep::energy
