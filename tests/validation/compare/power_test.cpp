// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/config/machine.h"
#include "validation/compare/statistics.h"
#include "validation/compare/suites.h"

namespace lockstep::validation {
namespace {

TEST(Power, IsNearerToWhatWasPublishedThanTheBestOpenToolOnAnotherCard) {
    const Suite suite = power_suite();
    const std::vector<Row> rows = suite.rows({.machine = "tpu_v1"});
    EXPECT_EQ(rows.size(), 14u);
    EXPECT_LE(statistics_of(rows, suite.error).mean_absolute, suite.bar);
    std::size_t kernels = 0;
    for (const Row& row : rows) {
        EXPECT_GT(row.simulated, 0) << row.name;
        EXPECT_NO_THROW(config::Machine::load(row.group)) << row.name;
        kernels += row.group == "rtx2060super";
    }
    EXPECT_EQ(kernels, 5u);
}

}  // namespace
}  // namespace lockstep::validation
