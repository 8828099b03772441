// SPDX-License-Identifier: Apache-2.0
// Each rule on a kernel that has its fault, and not on one that lacks it.
#include "workloads/report/rules.h"

#include <gmock/gmock.h>

#include "rules_fixture.h"

namespace lockstep::report {
namespace {

using testing::HasSubstr;

class Rules : public testing::Test {
  protected:
    /// What a rule says of a launch; a gain of 0 where it says nothing.
    static Advice advice_of(std::string_view rule, const RunFile& run,
                            const config::Machine& machine) {
        for (const Advice& one : advice_on(run.steps.at(0), machine))
            if (one.rule == rule) return one;
        return {};
    }
    Advice advice(std::string_view rule, const RunFile& run) {
        return advice_of(rule, run, runner_.machine());
    }
    RulesRunner runner_;
};

TEST_F(Rules, SmallGrid) {
    const Advice small = advice("small grid", runner_.run("unfused", 2, 128));
    EXPECT_DOUBLE_EQ(small.gain, 0.5);
    EXPECT_THAT(small.text, HasSubstr("2 CTAs for 4 SMs"));
    EXPECT_EQ(advice("small grid", runner_.run("unfused", 4, 128)).gain, 0);
}

TEST_F(Rules, Tail) {
    // An SM holds 2 CTAs of 1024 threads: 9 are 1.125 waves.
    const Advice tail = advice("tail", runner_.run("unfused", 9, 1024));
    EXPECT_NEAR(tail.gain, 1 - 1.125 / 2, 1e-9);
    EXPECT_EQ(advice("tail", runner_.run("unfused", 16, 1024)).gain, 0);
}

TEST_F(Rules, Imbalance) {
    // The last of 16 CTAs, two waves, goes on when all others are done.
    const Advice found = advice("imbalance", runner_.run("lopsided", 16, 1024));
    EXPECT_GT(found.gain, 0.4);
    EXPECT_THAT(found.text, HasSubstr("CTAs take different times"));
    EXPECT_LT(advice("imbalance", runner_.run("unfused", 64, 1024)).gain, 0.1);
}

TEST_F(Rules, DramAtItsLimit) {
    // A memory of which the SMs ask for more than it can.
    RulesRunner slow(true, 1, {"dram.bandwidth=1200"});
    const RunFile copy = slow.run("copy", 1024, 1024);
    const Advice found = advice_of("DRAM at its limit", copy, slow.machine());
    EXPECT_GT(found.gain, 0.5);
    EXPECT_THAT(found.text, HasSubstr("Fuse it"));
    EXPECT_EQ(advice("DRAM at its limit", runner_.run("copy", 64, 256)).gain, 0);
}

TEST_F(Rules, Occupancy) {
    const Advice found = advice("occupancy", runner_.run("hoarder", 16, 64, 100 << 10));
    EXPECT_GT(found.gain, 0.5);
    EXPECT_THAT(found.text, HasSubstr("shared memory"));
    EXPECT_EQ(advice("occupancy", runner_.run("hoarder", 16, 1024, 4096)).gain, 0);
}

TEST_F(Rules, MainStall) {
    const Advice chase = advice("main stall", runner_.run("chase", 8, 32));
    EXPECT_GT(chase.gain, 0.7);
    EXPECT_THAT(chase.text, HasSubstr("data from global or local memory"));
    const Advice waiting = advice("main stall", runner_.run("waiting", 8, 512));
    EXPECT_GT(waiting.gain, 0.3);
    EXPECT_THAT(waiting.text, HasSubstr("at a barrier"));
}

TEST_F(Rules, UncoalescedAccesses) {
    const Advice found = advice("uncoalesced accesses", runner_.run("strided", 64, 256));
    EXPECT_GT(found.gain, 0.1);
    EXPECT_THAT(found.text, HasSubstr("rules.cu:9"));  // the line of the load
    EXPECT_THAT(found.text, HasSubstr("LDG"));
    EXPECT_EQ(advice("uncoalesced accesses", runner_.run("copy", 64, 256)).gain, 0);
}

TEST_F(Rules, ManySectors) {
    RulesRunner plain(false);
    EXPECT_GT(advice("many sectors", plain.run("strided", 64, 256)).gain, 0.1);
    EXPECT_EQ(advice("many sectors", plain.run("copy", 64, 256)).gain, 0);
}

TEST_F(Rules, BankConflicts) {
    const Advice found = advice("bank conflicts", runner_.run("conflicts", 32, 256));
    EXPECT_GT(found.gain, 0.5);
    EXPECT_THAT(found.text, HasSubstr("Pad rows"));
    EXPECT_EQ(advice("bank conflicts", runner_.run("waiting", 8, 256)).gain, 0);
}

TEST_F(Rules, Divergence) {
    const Advice found = advice("divergence", runner_.run("divergent", 32, 256));
    EXPECT_GT(found.gain, 0.2);
    EXPECT_EQ(advice("divergence", runner_.run("unfused", 32, 256)).gain, 0);
}

TEST_F(Rules, UnfusedArithmetic) {
    const Advice found = advice("unfused arithmetic", runner_.run("unfused", 32, 512));
    EXPECT_GT(found.gain, 0.2);
    EXPECT_LE(found.gain, 0.5);
    EXPECT_THAT(found.text, HasSubstr("FP32"));
    EXPECT_EQ(advice("unfused arithmetic", runner_.run("divergent", 32, 256)).gain, 0);
}

TEST_F(Rules, Latency) {
    EXPECT_GT(advice("latency", runner_.run("waiting", 64, 256)).gain, 0.2);
    EXPECT_EQ(advice("latency", runner_.run("conflicts", 64, 512)).gain, 0);
}

TEST_F(Rules, AreOrderedByGainAndKnown) {
    const auto names = rule_names();
    const auto list = advice_on(runner_.run("conflicts", 5, 256).steps[0], runner_.machine());
    ASSERT_GE(list.size(), 2u);
    for (std::size_t i = 0; i < list.size(); ++i) {
        EXPECT_NE(std::find(names.begin(), names.end(), list[i].rule), names.end());
        EXPECT_LE(list[i].gain, 1);
        if (i == 0) continue;
        EXPECT_LE(list[i].gain, list[i - 1].gain);
    }
}

TEST_F(Rules, SayNothingOfWhatWasEmulated) {
    Step step;
    step.name = "emulated";
    step.metrics.add("smsp__inst_executed.sum", 5);
    EXPECT_TRUE(advice_on(step, runner_.machine()).empty());
}

}  // namespace
}  // namespace lockstep::report
