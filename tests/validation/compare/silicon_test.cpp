// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/silicon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "sim/error/error.h"
#include "validation/accuracy/gpu_class.h"
#include "validation/published/published.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;

TEST(Silicon, StoredResultsAreThoseOfTheTable) {
    const Table table = published_table("silicon"), made = published_table("silicon_simulated");
    const std::vector<SiliconRow> rows = silicon_rows({.machine = "all"});
    EXPECT_EQ(rows.size(), made.rows());  // none without a measured row
    EXPECT_LE(rows.size(), table.rows());
    for (const SiliconRow& row : rows) {
        EXPECT_GT(row.row.simulated, 0) << row.row.name;
        EXPECT_FALSE(row.work_class.empty()) << row.row.name;
        EXPECT_EQ(row.row.group, row.set);
    }
}

// The clock of a set that does not state it: at the one in the overrides, rows bound by SMs take
// what was measured, in the median.
TEST(Silicon, AFittedClockIsThatOfRowsBoundBySms) {
    const Table table = published_table("silicon");
    const std::set<std::string> of_sms = {"compute", "l1", "shared", "tensor"};
    std::map<std::string, SiliconRow> made;
    for (const SiliconRow& row : silicon_rows({.machine = "all"})) made.emplace(row.row.name, row);
    std::map<std::string, std::set<std::string>> overrides;
    std::map<std::string, std::vector<double>> ratios;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        if (table.text(i, "clock") != "fitted") continue;
        const std::string& set = table.text(i, "set");
        overrides[set].insert(table.text(i, "overrides"));
        EXPECT_THAT(table.text(i, "overrides"), HasSubstr("clock.sm="));
        const auto found = made.find(set + "/" + table.text(i, "program"));
        if (found == made.end()) continue;
        const SiliconRow& row = found->second;
        EXPECT_THAT(row.row.note, HasSubstr("MHz, fitted to the set"));
        const double beyond = table.number(i, "beyond");
        if (of_sms.contains(row.work_class))
            ratios[set].push_back((row.row.simulated - beyond) / (row.row.reference - beyond));
    }
    EXPECT_EQ(ratios.size(), 3u);
    for (auto& [set, list] : ratios) {
        EXPECT_EQ(overrides.at(set).size(), 1u) << set;
        std::sort(list.begin(), list.end());
        const double median = (list[(list.size() - 1) / 2] + list[list.size() / 2]) / 2;
        EXPECT_NEAR(median, 1, 0.02) << set;
    }
}

// A launch between two events takes `beyond` more than its kernel.
TEST(Silicon, WhatAMeasurementAddsIsInTheTime) {
    const Table table = published_table("silicon"), made = published_table("silicon_simulated");
    std::map<std::string, double> simulated;
    for (std::size_t i = 0; i < made.rows(); ++i)
        simulated[made.text(i, "set") + "/" + made.text(i, "program")] =
            made.number(i, "simulated");
    std::map<std::string, double> expected;
    double most = 0;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string name = table.text(i, "set") + "/" + table.text(i, "program");
        if (!simulated.contains(name)) continue;
        const double beyond = table.number(i, "beyond");
        expected[name] = simulated.at(name) * table.number(i, "scale") + beyond;
        most = std::max(most, beyond);
    }
    EXPECT_GT(most, 5);
    for (const SiliconRow& row : silicon_rows({.machine = "all"}))
        EXPECT_DOUBLE_EQ(row.row.simulated, expected.at(row.row.name)) << row.row.name;
}

TEST(Silicon, OfOneMachine) {
    for (const SiliconRow& row : silicon_rows({.machine = "rtx3090"}))
        EXPECT_EQ(row.machine, "rtx3090");
}

std::string error_of_request(const Request& request) {
    try {
        silicon_rows(request);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Silicon, WhatIsNotThereIsSaid) {
    EXPECT_THAT(error_of_request({.machine = "l4"}), HasSubstr("no row of machine 'l4'"));
    EXPECT_THAT(error_of_request({.machine = "all", .programs = "/no/such/folder"}),
                HasSubstr("/no/such/folder: no such folder"));
    const std::string empty = testing::TempDir() + "/silicon-empty";
    std::filesystem::create_directories(empty);
    EXPECT_THAT(error_of_request({.machine = "all", .programs = empty}),
                HasSubstr("whose executable is in"));
}

stats::Statistics kernel(std::vector<std::pair<std::string, double>> metrics) {
    stats::Statistics statistics("h200", "cycle", "x");
    stats::Step step{.name = "kernel"};
    for (const auto& [name, value] : metrics) step.metrics.emplace_back(name, stats::Value(value));
    statistics.add(std::move(step));
    return statistics;
}

TEST(GpuClass, IsWhatIsBusy) {
    const std::pair<std::string, double> all{"sm__cycles_elapsed.max", 1000},
        active{"sm__cycles_active.avg", 900};
    EXPECT_EQ(gpu_class(kernel({})), "");
    EXPECT_EQ(gpu_class(kernel({all})), "few_sms");
    EXPECT_EQ(gpu_class(kernel({all, active})), "latency");
    EXPECT_EQ(gpu_class(kernel(
                  {all, active, {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 90}})),
              "dram");
    EXPECT_EQ(gpu_class(kernel({all,
                                active,
                                {"l1tex__throughput.avg.pct_of_peak_sustained_active", 90},
                                {"l1tex__t_sectors.sum", 10}})),
              "l1");
    EXPECT_EQ(gpu_class(kernel({all,
                                active,
                                {"l1tex__throughput.avg.pct_of_peak_sustained_active", 90},
                                {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 10}})),
              "shared");
}

}  // namespace
}  // namespace lockstep::validation
