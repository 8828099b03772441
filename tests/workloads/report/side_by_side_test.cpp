// SPDX-License-Identifier: Apache-2.0
#include "workloads/report/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/stats/statistics.h"

namespace lockstep::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RunFile run_of(const std::string& machine, const std::string& mode, std::vector<stats::Step> steps,
               std::uint64_t cycles, double seconds, stats::Metrics totals = {}) {
    stats::Statistics statistics(machine, mode, "net");
    for (stats::Step& step : steps) statistics.add(std::move(step));
    statistics.add_time(cycles, seconds, 0);
    statistics.totals() = std::move(totals);
    return parse_run("x.json", statistics.json());
}

RunFile array_run() {
    return run_of("tpu_v3", "cycle",
                  {{.name = "conv",
                    .metrics = {{"cycles", std::uint64_t{300}},
                                {"macs", std::uint64_t{1000}},
                                {"array_utilization.pct", 80.0},
                                {"dram_bytes_read", std::uint64_t{100}},
                                {"dram_bytes_write", std::uint64_t{20}}}},
                   {.name = "pool",
                    .metrics = {{"cycles", std::uint64_t{100}}, {"array_utilization.pct", 0.0}}}},
                  400, 2e-6, {{"energy.total", 3e-6}, {"error.rms", 0.01}});
}

TEST(SideBySide, ALineHoldsWhatTheRunTells) {
    const MachineLine line = line_of(array_run(), 4);
    EXPECT_EQ(line.basis, "simulated");
    EXPECT_EQ(line.cycles, 400);
    EXPECT_DOUBLE_EQ(*line.rate, 2e6);
    EXPECT_DOUBLE_EQ(*line.utilization, 60);
    EXPECT_EQ(line.dram_bytes, 120);
    EXPECT_DOUBLE_EQ(*line.joules, 0.75e-6);
    EXPECT_DOUBLE_EQ(*line.error, 0.01);

    const MachineLine measured =
        line_of(run_of("host", "measured", {{.name = "a", .metrics = {}}}, 0, 0.5), 1);
    EXPECT_FALSE(measured.cycles || measured.utilization || measured.dram_bytes ||
                 measured.joules || measured.error);
    EXPECT_EQ(measured.seconds, 0.5);
    EXPECT_FALSE(line_of(run_of("h200", "emulate", {}, 0, 0), 1).rate);
}

TEST(SideBySide, LaunchesAreWeightedByTheirCycles) {
    const auto launch = [](std::uint64_t cycles, double throughput) {
        return stats::Step{
            .name = "k",
            .metrics = {{"sm__cycles_elapsed.max", cycles},
                        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", throughput},
                        {"dram__bytes.sum", std::uint64_t{64}}}};
    };
    const RunFile run = run_of("h200", "cycle", {launch(100, 90), launch(300, 10)}, 400, 1e-6);
    EXPECT_DOUBLE_EQ(*utilization_of(run), 30);
    EXPECT_EQ(line_of(run, 1).dram_bytes, 128);
}

TEST(SideBySide, TheTableHasALineAMachine) {
    const std::string text =
        side_by_side_text({line_of(array_run(), 1), {.machine = "h200", .failure = "too small"}});
    EXPECT_THAT(text, AllOf(HasSubstr("tpu_v3"), HasSubstr("2.00 µs"), HasSubstr("1.0e-02"),
                            HasSubstr("h200"), HasSubstr("too small")));
}

TEST(SideBySide, ThePageHasTheRooflineAndTheLayersOfAll) {
    const auto machine = config::Machine::load("tpu_v3");
    const RunFile run = array_run();
    const std::string page = side_by_side_page(
        "<net>", {line_of(run, 1), {.machine = "x", .failure = "<why>"}}, {{run, machine}});
    EXPECT_THAT(page,
                AllOf(HasSubstr("&lt;net&gt;"), HasSubstr("&lt;why&gt;"), HasSubstr("Roofline"),
                      HasSubstr("conv: 75.0 %"), Not(HasSubstr("<net>"))));
}

}  // namespace
}  // namespace lockstep::report
