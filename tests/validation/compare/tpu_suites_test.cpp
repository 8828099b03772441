// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/statistics.h"
#include "validation/compare/suites.h"

#include <gtest/gtest.h>

namespace lockstep::validation {
namespace {

TEST(TpuSuites, MeasuredCyclesAreMetWithinTheGoal) {
    const Suite suite = tpu_measured_suite();
    const std::vector<Row> rows = suite.rows({.machine = "tpu_v3"});
    EXPECT_EQ(rows.size(), 12u);
    EXPECT_LE(statistics_of(rows, suite.error).mean_absolute, suite.bar);
}

TEST(TpuSuites, ThePapersApplicationsSpendTheirCyclesAsItsTableSays) {
    const Suite suite = tpu_paper_suite();
    const std::vector<Row> rows = suite.rows({.machine = "tpu_v1"});
    EXPECT_EQ(rows.size(), 54u);
    std::vector<Row> percentages, cycles;
    for (const Row& row : rows) (row.is_percentage ? percentages : cycles).push_back(row);
    EXPECT_EQ(cycles.size(), 6u);
    EXPECT_LE(statistics_of(percentages, suite.error).mean_absolute, 8);
    EXPECT_LE(statistics_of(cycles, suite.error).mean_absolute, suite.bar);
}

}  // namespace
}  // namespace lockstep::validation
