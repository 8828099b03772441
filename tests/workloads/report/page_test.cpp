// SPDX-License-Identifier: Apache-2.0
#include "workloads/report/page.h"

#include <gmock/gmock.h>

#include "rules_fixture.h"
#include "workloads/report/numbers.h"

namespace lockstep::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(RunPage, ShowsALaunch) {
    RulesRunner runner;
    const RunFile run = runner.run("conflicts", 24, 256);
    const std::string page = run_page(run, runner.machine());
    EXPECT_THAT(page, AllOf(HasSubstr("Speed of Light"), HasSubstr("What to do next"),
                            HasSubstr("bank conflicts"), HasSubstr("Where the warps"),
                            HasSubstr("Occupancy"), HasSubstr("By instruction"),
                            HasSubstr("rules.cu:"), HasSubstr("Memory")));
    EXPECT_THAT(page, AllOf(Not(HasSubstr("http")), Not(HasSubstr("nan")), Not(HasSubstr("inf "))));
    EXPECT_EQ(page, run_page(run, runner.machine()));
}

TEST(RunPage, HasARooflineWhereThereIsArithmetic) {
    RulesRunner runner;
    EXPECT_THAT(run_page(runner.run("unfused", 24, 256), runner.machine()), HasSubstr("Roofline"));
    EXPECT_THAT(run_page(runner.run("copy", 24, 256), runner.machine()),
                Not(HasSubstr("Roofline")));
}

TEST(RunPage, ShowsANetworksLayers) {
    const auto machine = config::Machine::load("tpu_v1");
    stats::Statistics statistics("tpu_v1", "cycle", "net<1>");
    for (const char* name : {"conv<a>", "fc"})
        statistics.add({.name = name,
                        .metrics = {{"cycles", std::uint64_t{1000}},
                                    {"array_utilization.pct", 25.0},
                                    {"lockstep__array_active.pct", 30.0},
                                    {"stall_cycles.weight", std::uint64_t{600}}},
                        .mode = ""});
    statistics.add_time(2000, 1e-6, 0);
    const std::string page = run_page(parse_run("x.json", statistics.json()), *machine);
    EXPECT_THAT(page,
                AllOf(HasSubstr("Schedule"), HasSubstr("conv&lt;a&gt;"), HasSubstr("weight 60"),
                      HasSubstr("Where the array"), Not(HasSubstr("<a>"))));
}

TEST(Numbers, AreForPeople) {
    EXPECT_EQ(number_text(1234567), "1,234,567");
    EXPECT_EQ(number_text(-1234), "-1,234");
    EXPECT_EQ(number_text(12), "12");
    EXPECT_EQ(number_text(0.123456), "0.12346");
    EXPECT_EQ(scaled_text(3.35e12, "B/s"), "3.35 TB/s");
    EXPECT_EQ(scaled_text(24.5e-6, "s"), "24.5 µs");
    EXPECT_EQ(scaled_text(999.7, "B"), "1.00 kB");
    EXPECT_EQ(scaled_text(0, "B"), "0 B");
}

}  // namespace
}  // namespace lockstep::report
