// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/statistics.h"
#include "validation/compare/suites.h"

#include <gtest/gtest.h>

namespace lockstep::validation {
namespace {

TEST(TpuSuites, MeasuredCyclesAreMetWithinTheGoal) {
    const Suite suite = tpu_measured_suite();
    const std::vector<Row> rows = suite.rows({.machine = "tpu_v3"});
    EXPECT_EQ(rows.size(), 8u);
    EXPECT_LE(statistics_of(rows, suite.error).mean_absolute, suite.bar);
}

TEST(TpuSuites, ThePapersApplicationsSpendTheirCyclesAsItsTableSays) {
    const Suite suite = tpu_paper_suite();
    const std::vector<Row> rows = suite.rows({.machine = "tpu_v1"});
    EXPECT_EQ(rows.size(), 54u);
    // The rows that are percentages; of the cycles, the report says what is missed.
    std::vector<Row> percentages = rows;
    std::erase_if(percentages, [](const Row& row) { return !row.is_percentage; });
    EXPECT_EQ(percentages.size(), 48u);
    EXPECT_LE(statistics_of(percentages, suite.error).mean_absolute, 8);
}

}  // namespace
}  // namespace lockstep::validation
