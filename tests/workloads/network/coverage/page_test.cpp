// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/coverage/page.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "tests/page.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/coverage/samples.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/tpu/prepare.h"

namespace lockstep::network::coverage {
namespace {

/// A small core.
TpuTarget target_of(int generation) {
    TpuTarget target{.generation = generation, .limits = {}};
    target.limits.unified_buffer = 4 << 20;
    target.limits.accumulator_rows = 1024;
    target.limits.array_rows = target.limits.array_columns = 128;
    return target;
}

TEST(OperatorsPage, is_what_the_compilers_say) {
    expect_page("workloads/network/operators.md", operators_page());
}

class EachOperator : public testing::TestWithParam<std::size_t> {};

TEST_P(EachOperator, is_computed_by_the_reference) {
    const auto op = static_cast<Operator>(GetParam());
    if (op == Operator::kConstant) GTEST_SKIP() << "is a value of the graph when it is read";
    const Graph graph = sample_of(op);
    EXPECT_NO_THROW(execute(graph, seeded_inputs(graph, 1))) << name_of(op);
}

TEST_P(EachOperator, is_compiled_where_the_page_says_so) {
    const auto op = static_cast<Operator>(GetParam());
    if (op == Operator::kConstant) GTEST_SKIP() << "is a value of the graph when it is read";
    for (const int generation : {1, 2, 4}) {
        const TpuTarget target = target_of(generation);
        const Verdict verdict = verdict_of(op, target);
        const auto compile = [&] {
            compile_for_tpu(prepare_for_tpu(sample_of(op), generation, {}, 1, false).graph, target);
        };
        if (verdict.runs)
            EXPECT_NO_THROW(compile()) << name_of(op) << " on generation " << generation;
        else
            EXPECT_THROW(compile(), InputError) << name_of(op) << " on generation " << generation;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachOperator, testing::Range(std::size_t{0}, operator_count()),
                         [](const testing::TestParamInfo<std::size_t>& tested) {
                             return std::string(name_of(static_cast<Operator>(tested.param)));
                         });

}  // namespace
}  // namespace lockstep::network::coverage
