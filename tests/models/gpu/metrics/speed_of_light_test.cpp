// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/device.h"
#include "sim/stats/statistics.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

stats::Step step(const std::string& name, double microseconds, double dram_percent = 80) {
    const auto stalled = [](const std::string& state) {
        return "smsp__average_warps_issue_stalled_" + state + "_per_issue_active.ratio";
    };
    return {.name = name,
            .grid = {64, 2, 1},
            .block = {256, 1, 1},
            .metrics = {{"gpu__time_duration.sum", microseconds * 1e3},
                        {"sm__cycles_elapsed.max", std::uint64_t{1234567}},
                        {"sm__cycles_elapsed.avg.per_second", 1.98e9},
                        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", dram_percent},
                        {"dram__bytes.sum.per_second", 3.84e12},
                        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 12.5},
                        {"sm__inst_executed.avg.per_cycle_active", 0.75},
                        {"launch__waves_per_multiprocessor", 3.5},
                        {"launch__occupancy_limit_warps", std::uint64_t{8}},
                        {"launch__occupancy_limit_registers", std::uint64_t{4}},
                        {"launch__occupancy_limit_shared_mem", std::uint64_t{32}},
                        {"launch__occupancy_limit_blocks", std::uint64_t{32}},
                        {"smsp__average_warp_latency_per_inst_issued.ratio", 20.0},
                        {stalled("selected"), 1.0},
                        {stalled("wait"), 3.0},
                        {stalled("long_scoreboard"), 16.0}}};
}

stats::Statistics run(std::vector<stats::Step> steps) {
    stats::Statistics statistics("h200", "cycle", "w");
    for (stats::Step& s : steps) statistics.add(std::move(s));
    return statistics;
}

long lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

TEST(SpeedOfLight, OneLaunchReadsLikeNsightCompute) {
    const std::string text = speed_of_light(run({step("saxpy", 12.34)}));
    EXPECT_THAT(text, HasSubstr("saxpy  (64, 2, 1)x(256, 1, 1)  on h200\n"));
    EXPECT_THAT(text, ContainsRegex("Elapsed Cycles +1,234,567 +Duration +12.34 us\n"));
    EXPECT_THAT(text, ContainsRegex("SM Frequency +1.98 GHz\n"));
    EXPECT_THAT(text, ContainsRegex("DRAM Throughput +80.00 % +DRAM Bandwidth +3.84 TB/s\n"));
    EXPECT_THAT(text, ContainsRegex("Executed Ipc Active +0.75\n"));
    EXPECT_THAT(text, ContainsRegex("limited by +registers \\(4\\) +Waves Per SM +3.50\n"));
    EXPECT_THAT(text, ContainsRegex("long scoreboard +80.0 % .*#+ +data from global"));
    EXPECT_LT(text.find("long scoreboard"), text.find("wait "));
    EXPECT_THAT(text, HasSubstr("Bound by DRAM bandwidth, 80% of the peak."));
    EXPECT_LE(lines(text), 25);
}

TEST(SpeedOfLight, WhatNoUnitLimitsWaits) {
    EXPECT_THAT(speed_of_light(run({step("k", 1, 20)})),
                HasSubstr("Bound by latency: no unit is used above 20%; "
                          "warps wait most in long scoreboard."));
}

TEST(SpeedOfLight, SeveralLaunchesAreATableByKernel) {
    const std::string text =
        speed_of_light(run({step("small", 10), step("large", 100), step("small", 20)}));
    EXPECT_THAT(text, HasSubstr("3 launches of 2 kernels on h200\n"));
    EXPECT_THAT(text, ContainsRegex("large +1 +76.9% +1,234,567 +100.00 us"));
    EXPECT_THAT(text, ContainsRegex("small +2 +23.1% +2,469,134 +30.00 us"));
    EXPECT_THAT(text, ContainsRegex("Total +3 +3,703,701 +130.00 us"));
    EXPECT_LT(text.find("large"), text.find("small"));
    EXPECT_THAT(text, HasSubstr("Most of the time, large: Bound by DRAM"));
}

TEST(SpeedOfLight, ManyKernelsStillFitTheScreen) {
    std::vector<stats::Step> steps;
    for (int i = 0; i < 40; ++i)
        steps.push_back(step(std::string(200, 'x') + std::to_string(i), 1 + i));
    const std::string text = speed_of_light(run(std::move(steps)));
    EXPECT_LE(lines(text), 25);
    EXPECT_THAT(text, HasSubstr("and 25 kernels more"));
}

TEST(SpeedOfLight, NothingLaunched) {
    EXPECT_EQ(speed_of_light(run({})), "no kernel was launched\n");
    EXPECT_THAT(speed_of_light(run({{.name = "k"}})), AllOf(HasSubstr("k"), Not(HasSubstr("nan"))));
}

}  // namespace
}  // namespace lockstep
