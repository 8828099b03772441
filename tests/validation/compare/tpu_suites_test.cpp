// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/compare/statistics.h"
#include "validation/compare/suites.h"
#include "workloads/run/tpu/network.h"

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

TEST(TpuSuites, ProductsOnATpuV6eAreMetWithinSevenPercent) {
    const Suite suite = tpu_v6e_suite();
    std::vector<Row> products;
    for (Row& row : suite.rows({.machine = "tpu_v6e"}))
        if (row.part != Part::kNoisy && row.name.starts_with("gemm:")) products.push_back(row);
    EXPECT_EQ(products.size(), 11u);
    EXPECT_LE(statistics_of(products, suite.error).mean_absolute, 7);
}

// Whatever the panels that fit: with few columns in a panel, units share the rows.
TEST(TpuSuites, LargeProductsKeepAllUnitsBusy) {
    constexpr const char* kMachine = "tpu_v6e";
    constexpr double kUnits = 4 * 256.0 * 256;
    for (const auto& [m, n, k] : {std::tuple(2048, 8192, 8192),
                                  {8192, 2048, 8192},
                                  {8192, 8192, 2048},
                                  {4096, 4096, 4096}}) {
        const std::string what = fmt::format("gemm:m={},n={},k={},dtype=bf16", m, n, k);
        SCOPED_TRACE(what);
        const double roofline = static_cast<double>(m) * n * k / kUnits;
        EXPECT_LT(
            static_cast<double>(run::time_tpu_network({.what = what, .machine = kMachine}).cycles),
            1.25 * roofline);
    }
}

}  // namespace
}  // namespace lockstep::validation
