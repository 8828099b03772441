// SPDX-License-Identifier: Apache-2.0
// Suite sampling: what sampling promises, held to the workloads of the table.
#include <gmock/gmock.h>

#include <cmath>

#include "sim/error/error.h"
#include "validation/compare/suite.h"

namespace lockstep::validation {
namespace {

TEST(SamplingSuite, WorkloadsAreWithinTheGoalAndAsManyWithinTheirOwnErrorAsItSays) {
    const Suite& suite = find_suite("sampling");
    const std::vector<Row> rows = suite.rows({.machine = "all"});
    ASSERT_GE(rows.size(), 40u);
    double sum = 0;
    std::size_t within = 0, on_parts = 0;
    for (const Row& row : rows) {
        const double error = 100 * std::abs(row.simulated / row.reference - 1);
        sum += error;
        EXPECT_LE(error, suite.goal->maximum_absolute) << row.name;
        within += std::abs(row.simulated - row.reference) <= row.allowed;
        on_parts += row.group == "networks, on parts of the chip";
    }
    EXPECT_GE(on_parts, 20u);
    EXPECT_GE(static_cast<double>(within), 0.95 * static_cast<double>(rows.size()));
    EXPECT_LE(sum / static_cast<double>(rows.size()), suite.goal->mean_absolute);
}

TEST(SamplingSuite, TakesTheRowsOfOneMachine) {
    for (const Row& row : find_suite("sampling").rows({.machine = "a100"}))
        EXPECT_THAT(row.name, testing::StartsWith("a100 "));
    EXPECT_THROW(find_suite("sampling").rows({.machine = "v100"}), InputError);
}

}  // namespace
}  // namespace lockstep::validation
