// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/silicon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

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

TEST(Silicon, AnUnknownClockIsTheMedian) {
    std::map<std::string, std::vector<double>> ratios;
    for (const SiliconRow& row : silicon_rows({.machine = "all"}))
        if (!row.row.note.empty() && row.row.note.starts_with("clock"))
            ratios[row.set].push_back(row.row.simulated / row.row.reference);
    ASSERT_FALSE(ratios.empty());
    for (auto& [set, list] : ratios) {
        std::sort(list.begin(), list.end());
        const auto above = std::count_if(list.begin(), list.end(), [](double r) { return r > 1; });
        EXPECT_LE(above, static_cast<std::ptrdiff_t>(list.size() / 2)) << set;
        EXPECT_LT(list.front(), 1 + 1e-9) << set;
    }
}

// A launch between two events takes `beyond` more than its kernel, before the clock is fitted.
TEST(Silicon, WhatAMeasurementAddsIsInTheTime) {
    const Table table = published_table("silicon"), made = published_table("silicon_simulated");
    std::map<std::string, std::pair<double, double>> measured;
    for (std::size_t i = 0; i < table.rows(); ++i)
        measured[table.text(i, "set") + "/" + table.text(i, "program")] = {
            table.number(i, "scale"), table.number(i, "beyond")};
    std::map<std::string, double> scale;
    double most = 0;
    for (const SiliconRow& row : silicon_rows({.machine = "all"})) {
        const auto [times, beyond] = measured.at(row.row.name);
        most = std::max(most, beyond);
        for (std::size_t i = 0; i < made.rows(); ++i) {
            if (made.text(i, "set") + "/" + made.text(i, "program") != row.row.name) continue;
            const double factor =
                row.row.simulated / (made.number(i, "simulated") * times + beyond);
            EXPECT_NEAR(factor, scale.try_emplace(row.set, factor).first->second, 1e-6)
                << row.row.name;
        }
    }
    EXPECT_GT(most, 5);
    EXPECT_NEAR(scale.at("ncu_rtx3090"), 1, 1e-9);
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
