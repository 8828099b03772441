// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/gpu/metrics/table.h"
#include "sim/error/error.h"
#include "validation/compare/counter_rules.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;

const KernelMetrics kLong = {{"sm__cycles_elapsed.max", 400},
                             {"sm__cycles_active.avg", 300},
                             {"smsp__inst_executed.sum", 1000},
                             {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 60},
                             {"sm__inst_executed.avg.per_cycle_active", 2}};
const KernelMetrics kShort = {{"sm__cycles_elapsed.max", 100},
                              {"sm__cycles_active.avg", 100},
                              {"smsp__inst_executed.sum", 200},
                              {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 30},
                              {"sm__inst_executed.avg.per_cycle_active", 1}};

TEST(CounterRules, CountsAreScaledAndAveragesWeighted) {
    const KernelMetrics all[] = {kLong}, less[] = {kShort};
    EXPECT_EQ(counter_of("smsp__inst_executed.sum", all, less, 10), 8000);
    EXPECT_EQ(counter_of("dram__throughput.avg.pct_of_peak_sustained_elapsed", all, less, 10), 70);
    EXPECT_EQ(counter_of("sm__inst_executed.avg.per_cycle_active", all, less, 10), 2.5);
    const KernelMetrics both[] = {kLong, kShort};
    EXPECT_EQ(counter_of("smsp__inst_executed.sum", both, {}, 1), 1200);
    EXPECT_EQ(counter_of("sm__inst_executed.avg.per_cycle_active", both, {}, 1), 1.75);
}

TEST(CounterRules, WhatIsNotKnownIsSaid) {
    const KernelMetrics all[] = {kLong};
    EXPECT_THROW(counter_of("sm__clocks.avg", all, {}, 1), InternalError);
    EXPECT_THROW(counter_of("dram__sectors_read.sum", all, {}, 1), InternalError);
}

TEST(Counters, EveryMetricIsOneOfTheModels) {
    std::set<std::string> names;
    for (const gpu::MetricRow& row : gpu::metric_rows()) names.insert(row.name);
    const Table table = published_table("counters"), silicon = published_table("silicon");
    std::set<std::pair<std::string, std::string>> programs;
    for (std::size_t i = 0; i < silicon.rows(); ++i)
        programs.emplace(silicon.text(i, "set"), silicon.text(i, "program"));
    for (std::size_t i = 0; i < table.rows(); ++i) {
        EXPECT_TRUE(names.contains(table.text(i, "metric"))) << table.text(i, "metric");
        EXPECT_TRUE(programs.contains({table.text(i, "set"), table.text(i, "program")}))
            << table.text(i, "program");
        EXPECT_NO_THROW(weight_of(table.text(i, "metric")));
    }
}

// Every stored value has its measured one; instructions are those of the same source, so that the
// median kernel executes within 1% of what was counted (compilers differ).
TEST(Counters, StoredResultsAreThoseOfTheTable) {
    const std::vector<Row> rows = find_suite("counters").rows({.machine = "all"});
    EXPECT_EQ(rows.size(), published_table("counters_simulated").rows());
    std::vector<double> errors;
    for (const Row& row : rows)
        if (row.quantity == "smsp__inst_executed.sum")
            errors.push_back(std::abs(row.simulated / row.reference - 1));
    ASSERT_GT(errors.size(), 20u);
    std::sort(errors.begin(), errors.end());
    EXPECT_LT(errors[errors.size() / 2], 0.01);
}

TEST(Counters, OfOneMachine) {
    for (const Row& row : find_suite("counters").rows({.machine = "rtx3090"}))
        EXPECT_EQ(row.group, "ncu_rtx3090");
    try {
        find_suite("counters").rows({.machine = "l4"});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("suite counters has no row of machine 'l4'"));
    }
}

}  // namespace
}  // namespace lockstep::validation
