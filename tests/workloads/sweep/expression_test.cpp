// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"

namespace lockstep::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<double> value(const std::string& text) {
    return Expression(text, {"--where", 0}).evaluate([](std::string_view name) {
        return name == "sm.count" ? std::optional(132.0)
               : name == "zero"   ? std::optional(0.0)
                                  : std::nullopt;
    });
}

std::string error(const std::string& text) {
    try {
        Expression(text, {"study.yaml", 7});
    } catch (const InputError& e) {
        return e.what();
    }
    return "";
}

TEST(Expression, BindsAsInC) {
    EXPECT_EQ(value("2 + 3 * 4"), 14);
    EXPECT_EQ(value("(2 + 3) * 4"), 20);
    EXPECT_EQ(value("10 - 3 - 2"), 5);
    EXPECT_EQ(value("64 / 4 / 2"), 8);
    EXPECT_EQ(value("-2 * -3"), 6);
    EXPECT_EQ(value("1 + 1 == 2 && 3 < 2 || 5 >= 5"), 1);
    EXPECT_EQ(value("!(1 < 2)"), 0);
    EXPECT_EQ(value("2 != 2"), 0);
}

TEST(Expression, KnowsNamesFunctionsAndUnits) {
    EXPECT_EQ(value("sm.count / 2"), 66);
    EXPECT_EQ(value("max(min(8, 3), log2(1024))"), 10);
    EXPECT_EQ(value("sqrt(abs(-16))"), 4);
    EXPECT_EQ(value("50MiB"), 50.0 * 1048576);
    EXPECT_EQ(value("1.5GHz"), 1500);
    EXPECT_EQ(value("4TB/s"), 4000);
    EXPECT_EQ(value("8MB/2"), 4e6);
    EXPECT_THAT(Expression("a.b * (c__d.sum + a.b)", {}).names(), ElementsAre("a.b", "c__d.sum"));
}

TEST(Expression, HasNoValueWhereANameHasNone) {
    EXPECT_EQ(value("nothing + 1"), std::nullopt);
    EXPECT_EQ(value("1 / zero"), std::nullopt);
}

TEST(Expression, SaysWhereItIsWrong) {
    EXPECT_EQ(error("1 +"), "study.yaml:7: '1 +': column 4: wanted a number, a name or '('");
    EXPECT_THAT(error("(1"), HasSubstr("column 3: wanted ')'"));
    EXPECT_THAT(error("1 2"), HasSubstr("column 3: wanted an operator"));
    EXPECT_THAT(error("3furlongs"), HasSubstr("in place of 'furlongs'"));
    EXPECT_THAT(error("sine(1)"), HasSubstr("wanted min, max, log2, sqrt or abs"));
    EXPECT_THAT(error(std::string(10'000, '(')), HasSubstr("fewer parentheses"));
    EXPECT_THAT(error(""), HasSubstr("column 1"));
}

}  // namespace
}  // namespace lockstep::sweep
