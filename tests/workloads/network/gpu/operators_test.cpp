// SPDX-License-Identifier: Apache-2.0
// Each operator's sample runs on the emulated GPU and agrees with the reference, or is refused.
#include <gtest/gtest.h>

#include <set>

#include "sim/error/error.h"
#include "tests/workloads/network/gpu/run_on.h"
#include "workloads/network/coverage/samples.h"

namespace lockstep::network::gpu {
namespace {

/// Those that have no kernel, but in a network that is quantised as a whole.
const std::set<Operator> kRefused = {Operator::kConvInteger,   Operator::kDynamicQuantizeLinear,
                                     Operator::kMatMulInteger, Operator::kQLinearConv,
                                     Operator::kQLinearMatMul, Operator::kResizeBilinear};

class EachOperator : public testing::TestWithParam<std::size_t> {};

TEST_P(EachOperator, agrees_with_the_reference) {
    const auto op = static_cast<Operator>(GetParam());
    if (op == Operator::kConstant) GTEST_SKIP() << "is a value of the graph when it is read";
    const Graph graph = coverage::sample_of(op);
    if (kRefused.contains(op)) {
        EXPECT_THROW(run_on(graph), InputError);
        return;
    }
    expect_right(run_on(graph));
    expect_right(run_on(graph, "a100", Precision::kBf16));
}

INSTANTIATE_TEST_SUITE_P(All, EachOperator, testing::Range(std::size_t{0}, operator_count()),
                         [](const testing::TestParamInfo<std::size_t>& tested) {
                             return std::string(name_of(static_cast<Operator>(tested.param)));
                         });

TEST(Operators, without_a_kernel_are_listed_all_at_once) {
    Graph graph = coverage::sample_of(Operator::kConvInteger);
    const ValueId x = graph.outputs[0];
    Value value{"scaled", ValueKind::kComputed, graph.value(x).type, graph.shape(x)};
    graph.outputs[0] = graph.add(value);
    Node again = graph.nodes.back();
    again.name = "again";
    again.outputs = {graph.outputs[0]};
    graph.nodes.push_back(again);
    graph.outputs.push_back(x);
    try {
        run_on(graph);
        FAIL() << "it ran";
    } catch (const InputError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("node sample (ConvInteger)"), std::string::npos) << text;
        EXPECT_NE(text.find("node again (ConvInteger)"), std::string::npos) << text;
    }
}

TEST(Reduction, of_few_long_rows_fills_the_machine_in_pieces) {
    for (const Operator op : {Operator::kReduceSum, Operator::kReduceMean, Operator::kReduceMax,
                              Operator::kReduceSumSquare, Operator::kReduceL2}) {
        Builder b("reduction", 1);
        const ValueId x = b.input("x", ElementType::kFp32, {3, 40, 600});
        Attributes attributes = {{"keepdims", std::int64_t{0}}};
        std::vector<ValueId> inputs = {x};
        const std::vector<std::int64_t> axes = {1, 2};
        if (op == Operator::kReduceSum)
            inputs.push_back(
                b.constant("axes", make_tensor({2}, std::span<const std::int64_t>(axes))));
        else
            attributes["axes"] = axes;
        const Ran ran = run_on(b.finish({b.node(op, "reduce", inputs, attributes)}));
        expect_right(ran);
        // A root is taken of the whole.
        EXPECT_EQ(ran.code.launches.size(), op == Operator::kReduceL2 ? 1U : 2U)
            << name_of(op) << ": " << kernels_of(ran.code);
    }
}

// Results lie side by side, elements of one far apart: as a global pool of NHWC images.
TEST(Reduction, of_columns_takes_a_lane_for_each_result) {
    for (const Operator op :
         {Operator::kReduceMean, Operator::kReduceMax, Operator::kReduceL2, Operator::kArgMax}) {
        Builder b("reduction", 1);
        const ValueId x = b.input("x", ElementType::kFp32, {2, 49, 77});
        Attributes attributes = {{"keepdims", std::int64_t{0}}};
        if (op == Operator::kArgMax)
            attributes["axis"] = std::int64_t{1};
        else
            attributes["axes"] = std::vector<std::int64_t>{1};
        const Ran ran = run_on(b.finish({b.node(op, "reduce", {x}, attributes)}));
        expect_right(ran);
        ASSERT_EQ(ran.code.launches.size(), 1U) << name_of(op);
        EXPECT_EQ(ran.code.launches[0].kernel.kernel, "reduce_columns") << name_of(op);
        EXPECT_EQ(ran.code.launches[0].grid.x, 5U);  // 154 results, 32 of a block
    }
}

}  // namespace
}  // namespace lockstep::network::gpu
