// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/counters.h"

#include <gtest/gtest.h>

#include <set>

#include "models/tpu/parameters.h"
#include "sim/config/machine.h"
#include "tests/page.h"

namespace lockstep::tpu {
namespace {

TEST(TpuCounters, HaveARowEachThatAddsAndNamesThem) {
    StepResult one;
    std::uint64_t next = 1;
    for (const CounterRow& row : counter_rows())
        if (row.member != nullptr) one.*row.member = next++;
    StepResult sum = one;
    sum.add(one);
    const Parameters parameters(*config::Machine::load("tpu_v2"));
    const auto metrics = sum.metrics(parameters);
    ASSERT_EQ(metrics.size(), counter_rows().size());
    next = 1;
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        const CounterRow& row = counter_rows()[i];
        EXPECT_EQ(metrics[i].first, row.name);
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.meaning.empty()) << row.name;
        if (row.member == nullptr) continue;
        EXPECT_EQ(metrics[i].second.as_double(), 2.0 * static_cast<double>(next++)) << row.name;
    }
}

TEST(TpuCounters, EachStandsInTheTable) {
    // A counter that has no row is neither summed nor reported: each word of the struct has one,
    // but for the name and the three that results are cut from.
    std::size_t counters = 0;
    for (const CounterRow& row : counter_rows()) counters += row.member != nullptr ? 1 : 0;
    EXPECT_EQ(counters, (sizeof(StepResult) - sizeof(std::string)) / 8 - 3);
}

TEST(TpuCounters, ThePageIsWhatTheTableSays) {
    expect_page("models/tpu/metrics.md", metrics_page());
}

}  // namespace
}  // namespace lockstep::tpu
