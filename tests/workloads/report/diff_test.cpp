// SPDX-License-Identifier: Apache-2.0
#include "workloads/report/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/error/error.h"
#include "sim/stats/statistics.h"

namespace lockstep::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RunFile run(std::vector<stats::Step> steps, std::uint64_t cycles) {
    stats::Statistics statistics("h200", "cycle", "w");
    for (stats::Step& step : steps) statistics.add(std::move(step));
    statistics.add_time(cycles, static_cast<double>(cycles) * 1e-9, 0);
    return parse_run("x.json", statistics.json());
}

stats::Step step(const std::string& name, std::uint64_t cycles, double rate = 1) {
    return {
        .name = name, .metrics = {{"cycles", cycles}, {"rate", rate}, {"same", 2.0}}, .mode = ""};
}

TEST(Diff, PairsStepsByName) {
    const RunFile a = run({step("conv", 1), step("fc", 2), step("fc", 3)}, 6),
                  b = run({step("fc", 2), step("pool", 9), step("fc", 5)}, 16);
    const auto pairs = pair_steps(a, b);
    ASSERT_EQ(pairs.size(), 4u);
    EXPECT_EQ(pairs[0].b, nullptr);
    EXPECT_EQ(pairs[1].b, &b.steps[0]);
    EXPECT_EQ(pairs[2].b, &b.steps[2]);
    EXPECT_EQ(pairs[3].a, nullptr);
    EXPECT_EQ(pairs[3].name, "pool");
}

TEST(Diff, ShowsWhatDiffersMostFirst) {
    const RunFile a = run({step("fc", 100, 1)}, 100), b = run({step("fc", 110, 8)}, 110);
    const std::string text = diff_text(a, b, 0);
    EXPECT_THAT(text, AllOf(HasSubstr("+10.00 %"), HasSubstr("8.00 x"), Not(HasSubstr("same"))));
    EXPECT_LT(text.find("8.00 x"), text.rfind("+10.00 %"));
    EXPECT_THAT(diff_text(a, b, 1), HasSubstr("and 1 more that differ"));
    EXPECT_THAT(diff_text(a, a, 0), HasSubstr("all 3 metrics are equal"));
    EXPECT_THAT(diff_page(a, b), AllOf(HasSubstr("8.00 x"), HasSubstr("same")));
}

TEST(Diff, MeasuresDistanceByRatio) {
    EXPECT_EQ((MetricPair{"m", 2.0, 2.0}.distance()), 0);
    EXPECT_DOUBLE_EQ((MetricPair{"m", 2.0, 4.0}.distance()), std::log(2));
    EXPECT_DOUBLE_EQ((MetricPair{"m", 4.0, 2.0}.distance()), std::log(2));
    EXPECT_TRUE(std::isinf(MetricPair{"m", 0.0, 2.0}.distance()));
    EXPECT_TRUE(std::isinf(MetricPair{"m", std::nullopt, 2.0}.distance()));
}

TEST(RunFile, SaysWhatIsWrong) {
    const auto error = [](const char* text) -> std::string {
        try {
            parse_run("x.json", text);
        } catch (const InputError& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_THAT(error("{\"a\": "), HasSubstr("x.json: no JSON at byte"));
    EXPECT_THAT(error("{}"), HasSubstr("x.json: not the statistics of a run"));
    EXPECT_THAT(error("{\"schema\": 7}"), HasSubstr("schema"));
    EXPECT_THROW(read_run("/nowhere.json"), InputError);
}

}  // namespace
}  // namespace lockstep::report
