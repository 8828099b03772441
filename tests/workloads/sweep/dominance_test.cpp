// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/dominance.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"

namespace lockstep::sweep {
namespace {

StudyText words(const std::vector<std::string>& objectives) {
    StudyText text;
    text.workloads.push_back({"vector_add", {"X", 0}});
    text.machines.push_back({"h200", {"--on", 0}});
    text.axes.push_back(split_axis("sm.count=8,16,32", {"--vary", 0}));
    for (const std::string& objective : objectives)
        text.objectives.push_back({objective, {"--objective", 0}});
    text.stops_dominated = true;
    return text;
}

Result done(std::uint64_t cycles) {
    Result result;
    result.status = Status::kDone;
    result.cycles = cycles;
    result.seconds = static_cast<double>(cycles) / 1.98e9;
    return result;
}

TEST(Dominance, NeedsObjectivesThatTimeMakesWorse) {
    for (const char* good : {"cycles", "seconds", "sm.count * 2", "max:sm.count"})
        EXPECT_NO_THROW(make_study(words({good}))) << good;
    for (const char* bad : {"max:cycles", "cycles * sm.count", "dram__bytes.sum", "joules"})
        EXPECT_THROW(make_study(words({bad})), InputError) << bad;
}

TEST(Dominance, IsOfPointsBeforeAlone) {
    const Study study = make_study(words({"cycles", "sm.count"}));
    const Plan plan = make_plan(study);
    Dominance dominance(study, plan);
    EXPECT_FALSE(dominance.is_dominated(1, 1'000'000));
    dominance.add(1, done(500));
    EXPECT_FALSE(dominance.is_dominated(0, 1'000'000));  // stands before it
    EXPECT_FALSE(dominance.is_dominated(2, 499));        // may still be faster
    EXPECT_TRUE(dominance.is_dominated(2, 500));         // costs more
}

TEST(Dominance, TakesSecondsByTheClock) {
    const Study study = make_study(words({"seconds", "sm.count"}));
    const Plan plan = make_plan(study);
    Dominance dominance(study, plan);
    dominance.add(0, done(500));
    EXPECT_FALSE(dominance.is_dominated(1, 499));
    EXPECT_TRUE(dominance.is_dominated(1, 501));
}

TEST(Dominance, MarksTheSamePointsWhereAllHaveEnded) {
    const Study study = make_study(words({"cycles", "sm.count"}));
    const Plan plan = make_plan(study);
    std::vector<Result> results = {done(500), done(500), done(400)};
    mark_dominated(study, plan, results);
    EXPECT_EQ(results[0].status, Status::kDone);
    EXPECT_EQ(results[1].status, Status::kDominated);
    EXPECT_EQ(results[2].status, Status::kDone);
}

}  // namespace
}  // namespace lockstep::sweep
