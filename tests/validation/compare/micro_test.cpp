// SPDX-License-Identifier: Apache-2.0
// The table of published microbenchmark figures: every row names a workload, a quantity and a
// machine that there are. What they come to is `lockstep compare --suite micro`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "validation/compare/suite.h"
#include "validation/published/published.h"
#include "workloads/cuda/workload.h"

namespace lockstep::validation {
namespace {

TEST(MicroTable, NamesWorkloadsAndMachinesThatThereAre) {
    const Table table = published_table("micro");
    std::set<std::string> machines, keys;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        std::string text = table.text(i, "workload");
        EXPECT_TRUE(
            keys.insert(table.text(i, "machine") + " " + text + " " + table.text(i, "quantity"))
                .second)
            << text << " twice";
        machines.insert(table.text(i, "machine"));
        std::replace(text.begin(), text.end(), ' ', ',');
        const std::size_t colon = text.find(':');
        const cuda::Workload& workload = cuda::find_workload(text.substr(0, colon));
        EXPECT_NO_THROW(cuda::parse_parameters(
            workload, colon == text.npos ? "" : std::string_view(text).substr(colon + 1)))
            << text;
        EXPECT_GT(table.number(i, "value"), 0) << text;
        EXPECT_GE(table.number(i, "spread"), 0) << text;
        EXPECT_THAT(table.text(i, "kind"), testing::AnyOf("latency", "rate"));
        EXPECT_THAT(table.text(i, "part"), testing::AnyOf("train", "test"));
        EXPECT_FALSE(table.text(i, "source").empty());
    }
    for (const std::string& machine : machines) EXPECT_NO_THROW(config::Machine::load(machine));
    EXPECT_GE(machines.size(), 6u);
}

TEST(KernelTable, SaysOfEachRowWhetherItCanBeRebuilt) {
    const Table table = published_table("kernels");
    EXPECT_GT(table.rows(), 10u);
    for (std::size_t i = 0; i < table.rows(); ++i) {
        EXPECT_GT(table.number(i, "value"), 0);
        EXPECT_THAT(table.text(i, "can_rebuild"), testing::AnyOf("yes", "no"));
        EXPECT_FALSE(table.text(i, "note").empty()) << table.text(i, "kernel");
    }
}

TEST(MicroSuite, RefusesMachinesWithoutFigures) {
    EXPECT_THROW(find_suite("micro").rows({.machine = "v100"}), InputError);
}

}  // namespace
}  // namespace lockstep::validation
