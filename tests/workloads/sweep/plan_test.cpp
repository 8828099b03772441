// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/error/error.h"
#include "workloads/sweep/names.h"
#include "workloads/sweep/point.h"

namespace lockstep::sweep {
namespace {

using testing::ElementsAre;

StudyText words(const std::vector<std::string>& axes) {
    StudyText text;
    text.workloads.push_back({"vector_add:n=1000", {"X", 0}});
    text.machines.push_back({"h200", {"--on", 0}});
    for (const std::string& axis : axes) text.axes.push_back(split_axis(axis, {"--vary", 0}));
    return text;
}

std::vector<std::string> descriptions(const Study& study, const Plan& plan) {
    std::vector<std::string> list;
    for (const Point& point : plan.points) list.push_back(describe(study, point));
    return list;
}

TEST(Plan, GoesThroughAGridInOrder) {
    const Study study = make_study(words({"sm.count=16,32", "workload.n=1,2"}));
    EXPECT_THAT(
        descriptions(study, make_plan(study)),
        ElementsAre("vector_add:n=1 on h200, sm.count=16", "vector_add:n=2 on h200, sm.count=16",
                    "vector_add:n=1 on h200, sm.count=32", "vector_add:n=2 on h200, sm.count=32"));
}

TEST(Plan, VariesOneAtATimeAroundTheMachine) {
    StudyText text = words({"sm.count=16,132", "l2.size=25MiB,60MiB"});
    text.design = {"one-at-a-time", {}};
    const Study study = make_study(text);
    EXPECT_THAT(descriptions(study, make_plan(study)),
                ElementsAre("vector_add:n=1000 on h200, sm.count=132, l2.size=60MiB",
                            "vector_add:n=1000 on h200, sm.count=16, l2.size=60MiB",
                            "vector_add:n=1000 on h200, sm.count=132, l2.size=25MiB"));
}

TEST(Plan, LeavesOutWhatConstraintsExclude) {
    StudyText text = words({"sm.count=16,32,64", "workload.n=10,20"});
    text.constraints.push_back({"sm.count * workload.n <= 640", {"--where", 0}});
    const Study study = make_study(text);
    const Plan plan = make_plan(study);
    EXPECT_EQ(plan.points.size(), 5u);
    EXPECT_EQ(plan.excluded, 1u);
    text.constraints.push_back({"sm.count > 1000", {"--where", 0}});
    EXPECT_THROW(make_plan(make_study(text)), InputError);
}

TEST(Plan, ReadsParametersThatFollowOffThePointsMachine) {
    // l2.slices follow nothing, but a machine is what it becomes, not what it was.
    StudyText text = words({"clock.sm=1000,2000"});
    text.constraints.push_back({"clock.sm < 1500 && sm.count == 132", {"--where", 0}});
    EXPECT_EQ(make_plan(make_study(text)).points.size(), 1u);
}

TEST(Plan, PutsOneSampleInEachPartOfALatinHypercube) {
    StudyText text = words({"clock.sm=1000..2000", "dram.bandwidth=100..200"});
    text.samples = 20;
    const Study study = make_study(text);
    const Plan plan = make_plan(study);
    ASSERT_EQ(plan.points.size(), 20u);
    for (std::size_t axis = 0; axis < 2; ++axis) {
        std::set<int> parts;
        for (const Point& point : plan.points)
            parts.insert(static_cast<int>((point.values[axis].number - study.axes[axis].low) /
                                          (study.axes[axis].high - study.axes[axis].low) * 20));
        EXPECT_EQ(parts.size(), 20u);
    }
    EXPECT_EQ(descriptions(study, plan), descriptions(study, make_plan(study)));
    text.seed = 1;
    const Study other = make_study(text);
    EXPECT_NE(descriptions(study, plan), descriptions(other, make_plan(other)));
}

TEST(Plan, RunsAPointOnceThoughSamplesDrawItTwice) {
    StudyText text = words({"sm.count=10..12"});
    text.design = {"random", {}};
    text.samples = 50;
    EXPECT_EQ(make_plan(make_study(text)).points.size(), 3u);
}

TEST(Plan, MakesTheRowsForSobolIndices) {
    StudyText text = words({"clock.sm=1000..2000", "dram.bandwidth=100..200"});
    text.design = {"sobol", {}};
    text.samples = 8;
    const Study study = make_study(text);
    const Plan plan = make_plan(study);
    ASSERT_EQ(plan.sobol.size(), 1u);
    ASSERT_EQ(plan.sobol[0].size(), 8u * 4);
    const auto value = [&](std::size_t row, std::size_t axis) {
        return plan.points[plan.sobol[0][row]].values[axis].number;
    };
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(value(16 + i, 0), value(8 + i, 0));  // A with the first column of B
        EXPECT_EQ(value(16 + i, 1), value(i, 1));
        EXPECT_EQ(value(24 + i, 0), value(i, 0));
        EXPECT_EQ(value(24 + i, 1), value(8 + i, 1));
    }
}

TEST(Point, HasAKeyOfAllThatItsResultsDependOn) {
    std::set<std::string> keys;
    const auto add = [&](const StudyText& text) {
        const Study study = make_study(text);
        keys.insert(make_plan(study).points.at(0).key);
        return keys.size();
    };
    StudyText text = words({"sm.count=16"});
    EXPECT_EQ(add(text), 1u);
    EXPECT_EQ(add(text), 1u);
    text.limits.seconds = 3;  // changes no result
    EXPECT_EQ(add(text), 1u);
    text.axes[0].items = {"17"};
    EXPECT_EQ(add(text), 2u);
    text.seed = 1;
    EXPECT_EQ(add(text), 3u);
    text.overrides.push_back({"clock.sm=1000", {}});
    EXPECT_EQ(add(text), 4u);
    text.mode = run::Mode::kEmulate;
    EXPECT_EQ(add(text), 5u);
    text.workloads[0].text = "vector_add:n=1001";
    EXPECT_EQ(add(text), 6u);
    text.machines[0].text = "h100";
    EXPECT_EQ(add(text), 7u);
}

TEST(Point, ReplacesAWorkloadsParameter) {
    StudyText text = words({"workload.n=5"});
    const auto what = [&](const std::string& workload) {
        text.workloads[0].text = workload;
        const Study study = make_study(text);
        return workload_text(study, make_plan(study).points.at(0));
    };
    EXPECT_EQ(what("vector_add"), "vector_add:n=5");
    EXPECT_EQ(what("vector_add:n=1000"), "vector_add:n=5");
    text.axes = {split_axis("workload.n=5", {})};
    EXPECT_EQ(what("sgemm:m=64,n=64,k=32"), "sgemm:m=64,n=5,k=32");
    EXPECT_EQ(what("sgemm:m=64"), "sgemm:m=64,n=5");
}

}  // namespace
}  // namespace lockstep::sweep
