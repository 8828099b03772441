// SPDX-License-Identifier: Apache-2.0
#include "validation/accuracy/accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/page.h"
#include "validation/compare/accuracy_table.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Accuracy, TheTableIsWhatTheSuitesSay) {
    expect_page("validation/accuracy/accuracy.csv", make_accuracy_table());
}

stats::Statistics ran(const std::string& machine, const std::string& mode,
                      const std::vector<std::uint64_t>& macs) {
    stats::Statistics statistics(machine, mode, "x");
    for (const std::uint64_t count : macs)
        statistics.add({.name = "step", .metrics = {{"macs", stats::Value(count)}}});
    return statistics;
}

TEST(Accuracy, AResultIsLikeWhatHasAsManyProducts) {
    EXPECT_EQ(work_class(ran("tpu_v3", "cycle", {0})), "vector");
    EXPECT_EQ(work_class(ran("tpu_v3", "cycle", {0, 5, 0})), "product");
    EXPECT_EQ(work_class(ran("tpu_v3", "cycle", {5, 0, 5})), "network");
    EXPECT_THAT(work_class(ran("tpu_v3", "cycle", {})), IsEmpty());
    stats::Statistics gpu("h200", "cycle", "x");
    gpu.add({.name = "kernel"});
    EXPECT_THAT(work_class(gpu), IsEmpty());
}

TEST(Accuracy, OnlyWhatWasMeasuredIsExpected) {
    EXPECT_THAT(expectation_text(ran("tpu_v3", "cycle", {5})), HasSubstr("like it measured"));
    EXPECT_THAT(expectation_text(ran("tpu_v3", "cycle", {5})),
                HasSubstr("compare --suite tpu_measured"));
    EXPECT_THAT(expectation_text(ran("tpu_v3", "emulate", {5})), IsEmpty());
    EXPECT_THAT(expectation_text(ran("tpu_v2", "cycle", {5})), IsEmpty());
}

TEST(Accuracy, AGpuWithoutMeasuredRowsIsLikeThoseThatHaveSome) {
    stats::Statistics kernel("h200", "cycle", "x");
    kernel.add({.name = "kernel",
                .metrics = {{"sm__cycles_elapsed.max", stats::Value(1000.0)},
                            {"sm__cycles_active.avg", stats::Value(900.0)}}});
    EXPECT_EQ(work_class(kernel), "latency");
    EXPECT_THAT(expectation_text(kernel), HasSubstr("like it measured on other GPUs"));
    const auto own = expectation("rtx3090", "latency"), all = expectation("h200", "latency");
    ASSERT_TRUE(own && all);
    EXPECT_FALSE(own->of_others);
    EXPECT_TRUE(all->of_others);
    EXPECT_GT(all->rows, own->rows);
}

}  // namespace
}  // namespace lockstep::validation
