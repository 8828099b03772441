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
    EXPECT_EQ(rows.size(), 27u);
    EXPECT_LE(statistics_of(rows, suite.error).mean_absolute, suite.bar);
    std::size_t turing = 0, volta = 0;
    for (const Row& row : rows) {
        EXPECT_GT(row.simulated, 0) << row.name;
        EXPECT_NO_THROW(config::Machine::load(row.group)) << row.name;
        turing += row.group == "rtx2060super";
        volta += row.group == "v100" && row.part == Part::kTrain;
    }
    EXPECT_EQ(turing, 8u);
    EXPECT_EQ(volta, 10u);
}

}  // namespace
}  // namespace lockstep::validation
