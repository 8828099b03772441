// SPDX-License-Identifier: Apache-2.0
// Counters by instruction add up to those of the launch, and change nothing.
#include <gmock/gmock.h>

#include <cmath>

#include "rules_fixture.h"

namespace lockstep::report {
namespace {

double sum(const stats::Profile& profile, std::string_view column) {
    double all = 0;
    for (const auto& row : profile.rows) all += static_cast<double>(profile.value(row, column));
    return all;
}

class ProfileOf : public testing::TestWithParam<const char*> {};

TEST_P(ProfileOf, AddsUpToTheLaunch) {
    RulesRunner runner;
    const RunFile run = runner.run(GetParam(), 24, 256, 1024);
    const Step& step = run.steps[0];
    const Metrics& m = step.metrics;
    const stats::Profile& p = step.profile;
    ASSERT_FALSE(p.rows.empty());
    EXPECT_EQ(sum(p, "inst_executed"), m["smsp__inst_executed.sum"]);
    EXPECT_EQ(sum(p, "thread_inst_executed"), m["smsp__thread_inst_executed_pred_on.sum"]);
    EXPECT_EQ(sum(p, "l1_requests"), m["lockstep__l1_requests.sum"]);
    EXPECT_EQ(sum(p, "l1_sectors"), m["l1tex__t_sectors.sum"]);
    EXPECT_EQ(sum(p, "l1_sectors_hit"), m["l1tex__t_sectors_lookup_hit.sum"]);
    EXPECT_EQ(sum(p, "bank_conflicts"),
              m["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] +
                  m["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"]);
    constexpr std::string_view kState = "warp_cycles_";
    int states = 0;
    for (const std::string& column : p.columns) {
        if (!column.starts_with(kState)) continue;
        ++states;
        const double average = m["smsp__average_warps_issue_stalled_" +
                                 column.substr(kState.size()) + "_per_issue_active.ratio"];
        EXPECT_NEAR(sum(p, column), average * m["smsp__inst_issued.sum"], 0.5) << column;
    }
    EXPECT_GT(states, 10);
}

INSTANTIATE_TEST_SUITE_P(Kernels, ProfileOf,
                         testing::Values("strided", "conflicts", "divergent", "unfused", "chase",
                                         "hoarder", "waiting", "copy"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Profile, ChangesNothingAndDependsOnNoThreads) {
    for (const char* kernel : {"strided", "waiting"}) {
        RulesRunner with, without(false), threads(true, 3);
        const RunFile a = with.run(kernel, 24, 256), b = without.run(kernel, 24, 256),
                      c = threads.run(kernel, 24, 256);
        EXPECT_TRUE(b.steps[0].profile.rows.empty());
        ASSERT_EQ(a.steps[0].metrics.list(), b.steps[0].metrics.list());
        ASSERT_EQ(a.steps[0].profile.rows.size(), c.steps[0].profile.rows.size());
        for (std::size_t i = 0; i < a.steps[0].profile.rows.size(); ++i)
            EXPECT_EQ(a.steps[0].profile.rows[i].values, c.steps[0].profile.rows[i].values);
    }
}

TEST(Profile, NamesSourceLinesAndBarriers) {
    RulesRunner runner;
    const RunFile run = runner.run("waiting", 8, 512);
    const stats::Profile& p = run.steps[0].profile;
    std::uint64_t at_barriers = 0, all = 0;
    for (const auto& row : p.rows) {
        const std::uint64_t waits = p.value(row, "warp_cycles_barrier");
        all += waits;
        if (row.sass.find("BAR.SYNC") != std::string::npos) {
            at_barriers += waits;
            EXPECT_THAT(row.source, testing::HasSubstr("rules.cu:"));
        }
    }
    EXPECT_GT(all, 0u);
    EXPECT_EQ(at_barriers, all);
    EXPECT_THAT(stats::source_text(p), testing::HasSubstr("barrier"));
}

}  // namespace
}  // namespace lockstep::report
