// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/error/error.h"
#include "validation/compare/report.h"
#include "validation/compare/statistics.h"
#include "validation/published/published.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;

Row row(double reference, double simulated, const char* quantity = "cycles",
        Part part = Part::kTest) {
    return {"w", quantity, reference, simulated, "cycles", "a paper", part, ""};
}

TEST(Compare, ErrorsAreRelativeOrDifferences) {
    EXPECT_DOUBLE_EQ(error_of(row(200, 210), Error::kRelative), 5);
    EXPECT_DOUBLE_EQ(error_of(row(200, 190), Error::kRelative), -5);
    EXPECT_DOUBLE_EQ(error_of(row(12.5, 10), Error::kDifference), -2.5);
    EXPECT_EQ(error_of(row(0, 0), Error::kRelative), 0);
    EXPECT_TRUE(std::isinf(error_of(row(0, 1), Error::kRelative)));
}

TEST(Compare, StatisticsOfFiveRows) {
    // Errors: +10, -10, +50, 0, -20 percent.
    const std::vector<Row> rows = {row(10, 11), row(20, 18), row(30, 45), row(40, 40), row(50, 40)};
    const ErrorStatistics s = statistics_of(rows, Error::kRelative);
    EXPECT_EQ(s.rows, 5u);
    EXPECT_EQ(s.equal, 1u);
    EXPECT_DOUBLE_EQ(s.mean_signed, 6);
    EXPECT_DOUBLE_EQ(s.mean_absolute, 18);
    EXPECT_DOUBLE_EQ(s.median_absolute, 10);
    EXPECT_DOUBLE_EQ(s.p90_absolute, 50);
    EXPECT_DOUBLE_EQ(s.maximum_absolute, 50);
    // Worked out apart from this code.
    EXPECT_NEAR(*s.pearson, 0.830992, 1e-6);
    EXPECT_NEAR(*s.kendall_tau, 0.527046, 1e-6);
}

TEST(Compare, CorrelationNeedsValuesThatVary) {
    const std::vector<Row> rows = {row(10, 5), row(10, 6)};
    const ErrorStatistics s = statistics_of(rows, Error::kRelative);
    EXPECT_FALSE(s.pearson);
    EXPECT_FALSE(s.kendall_tau);
    // Neither do sides that are constant but for the rounding of their mean.
    EXPECT_FALSE(statistics_of(std::vector<Row>(19, row(1, 1)), Error::kRelative).pearson);
    EXPECT_EQ(statistics_of({}, Error::kRelative).rows, 0u);
}

TEST(Compare, RowsWithoutAnErrorAreCountedApart) {
    const std::vector<Row> rows = {row(0, 3), row(10, 12), row(0, 0)};
    const ErrorStatistics s = statistics_of(rows, Error::kRelative);
    EXPECT_EQ(s.rows, 3u);
    EXPECT_EQ(s.equal, 1u);
    EXPECT_EQ(s.without_error, 1u);
    EXPECT_DOUBLE_EQ(s.mean_absolute, 10);
    EXPECT_DOUBLE_EQ(s.maximum_absolute, 20);
    // Where no row has one, no bar is reached.
    EXPECT_TRUE(std::isinf(statistics_of({rows.data(), 1}, Error::kRelative).mean_absolute));
    EXPECT_EQ(furthest_off(rows, Error::kRelative, 2)[1].reference, 10);
    const Suite suite{.name = "s", .summary = "x", .machine = "m"};
    EXPECT_THAT(text_report(suite, "m", rows),
                HasSubstr("cycles: 1 of 3 values have a reference of 0"));
}

TEST(Compare, LinesAreShort) {
    const Suite suite{.name = "s", .summary = "x", .machine = "m"};
    std::vector<Row> rows = {row(123456, 234567, "stall_math_pipe_throttle"),
                             row(1, 2, "l1_hit_rate", Part::kTrain), row(0, 0, "nothing")};
    rows[0].name = "sgemm_shared:m=256,n=256,k=256";
    rows[0].note = "a note that is too long to stand in the same line as all that";
    rows[0].group = "gemm";
    const std::string text = text_report(suite, "m", rows) + row_text(suite, rows[0]);
    EXPECT_THAT(text, HasSubstr("\n        (a note"));
    EXPECT_THAT(text, HasSubstr("0 on both sides: nothing"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Compare, ReportsByQuantityAndPart) {
    const Suite suite{.name = "s", .summary = "x", .machine = "m", .bar = 10, .bar_source = "them"};
    const std::vector<Row> rows = {row(100, 101, "cycles", Part::kTrain), row(100, 103, "cycles"),
                                   row(5, 5, "watts")};
    const std::string text = text_report(suite, "m", rows);
    EXPECT_THAT(text, HasSubstr("train"));
    EXPECT_THAT(text, HasSubstr("watts"));
    EXPECT_THAT(text, HasSubstr("reached"));
    const auto json = nlohmann::json::parse(json_report(suite, "m", rows));
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["steps"].size(), 3u);
    EXPECT_EQ(json["steps"][1]["metrics"]["simulated"], 103);
    EXPECT_EQ(json["statistics"][0]["quantity"], "cycles");
    EXPECT_EQ(json["statistics"][0]["rows"], 2);
    EXPECT_THAT(csv_report(suite, rows), HasSubstr("\"w\",\"watts\",5,5"));
}

TEST(Compare, AnExactSuiteNamesOnlyWhatDiffers) {
    const Suite suite{.name = "s", .summary = "x", .machine = "m", .is_exact = true};
    EXPECT_THAT(text_report(suite, "m", std::vector<Row>{row(1, 1)}), HasSubstr("1 of 1"));
    EXPECT_THAT(text_report(suite, "m", std::vector<Row>{row(1, 1), row(1, 2)}),
                testing::AllOf(HasSubstr("1 of 2"), HasSubstr("+100.00%")));
}

TEST(Compare, UnknownSuitesAreListed) {
    try {
        find_suite("scalesin");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean scalesim?"));
        EXPECT_THAT(error.what(), HasSubstr("SCALE-Sim"));
    }
}

TEST(Compare, EverySuiteIsComplete) {
    for (const Suite& suite : suites()) {
        EXPECT_FALSE(suite.summary.empty()) << suite.name;
        EXPECT_FALSE(suite.machine.empty()) << suite.name;
        EXPECT_NE(suite.rows, nullptr) << suite.name;
    }
}

TEST(Compare, ScaleSimRowsAreAllEqual) {
    const std::vector<Row> rows = find_suite("scalesim").rows({.machine = "systolic"});
    EXPECT_EQ(rows.size(), 450u * 8 + 409u * 3);
    for (const Row& r : rows)
        EXPECT_EQ(r.simulated, r.reference) << r.name << " " << r.quantity << " " << r.note;
    EXPECT_THROW(find_suite("scalesim").rows({.machine = "h200"}), InputError);
}

TEST(PublishedTable, ReadsCellsAndSaysWhatIsWrong) {
    const Table table("t", "# where from\na,b\n1,x\n2.5,\n");
    EXPECT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.number(1, "a"), 2.5);
    EXPECT_EQ(table.text(1, "b"), "");
    EXPECT_THROW(table.number(0, "b"), InputError);
    EXPECT_THROW(table.text(0, "c"), InternalError);
    EXPECT_THROW(Table("t", "a,b\n1\n"), InputError);
    EXPECT_THROW(Table("t", ""), InputError);
}

}  // namespace
}  // namespace lockstep::validation
