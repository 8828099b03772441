// SPDX-License-Identifier: Apache-2.0
// Operators taken apart compute what the whole does.
#include "workloads/network/decompose/expand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/paths.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

void expect_the_same(const Graph& whole, const Graph& parts, double tolerance) {
    validate(parts);
    const std::vector<Tensor> x = seeded_inputs(whole, 1);
    const std::vector<Tensor> expected = execute(whole, x, Precision::kFp64),
                              actual = execute(parts, x, Precision::kFp64);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        EXPECT_EQ(actual[i].shape, expected[i].shape);
        EXPECT_THAT(to_doubles(actual[i]),
                    Pointwise(DoubleNear(tolerance), to_doubles(expected[i])));
    }
}

std::size_t count(const Graph& graph, Operator op) {
    std::size_t n = 0;
    for (const Node& node : graph.nodes) n += node.op == op;
    return n;
}

TEST(Expand, UnrollsStackedLayers) {
    const Graph whole = build_network(
        "lstm", {.parameters = {{"seq", 5}, {"hidden", 6}, {"input", 4}, {"batch", 3}}});
    Graph parts = whole;
    EXPECT_EQ(expand_lstm(parts), 2);
    EXPECT_EQ(count(parts, Operator::kLSTM), 0u);
    EXPECT_EQ(count(parts, Operator::kGemm), 2u * (1 + 4));
    // The bias sums are fp32.
    expect_the_same(whole, parts, 1e-7);
}

TEST(Expand, BothDirectionsOfPytorchsLstm) {
    Graph whole =
        read_onnx(std::filesystem::path(source_path()) / "tests/workloads/network/data/lstm.onnx");
    simplify(whole);
    Graph parts = whole;
    EXPECT_EQ(expand_lstm(parts), 2);
    expect_the_same(whole, parts, 1e-7);
}

TEST(Expand, GivenStatesAndReverse) {
    Builder b("state", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {3, 2, 4});
    const ValueId h = b.input("h", ElementType::kFp32, {1, 2, 5}),
                  c = b.input("c", ElementType::kFp32, {1, 2, 5});
    const ValueId y = b.node(
        Operator::kLSTM, "lstm",
        {x, b.weight("w", {1, 20, 4}, 1), b.weight("r", {1, 20, 5}, 1), kNoValue, kNoValue, h, c},
        {{"direction", std::string("reverse")}}, 3);
    const Graph whole = b.finish({y, y + 1, y + 2});
    Graph parts = whole;
    EXPECT_EQ(expand_lstm(parts), 1);
    expect_the_same(whole, parts, 1e-12);
}

TEST(Expand, NeedsNoValues) {
    Graph graph = build_network("lstm", {.with_values = false});
    EXPECT_EQ(expand_lstm(graph), 2);
    validate(graph);
    EXPECT_EQ(graph.shape(graph.outputs[0]), (Shape{32, 1, 512}));
}

TEST(Expand, LocalResponses) {
    Builder b("responses", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 7, 3, 2}),
                  line = b.input("line", ElementType::kFp32, {1, 3, 1});
    const auto lrn = [&](const char* name, ValueId of, std::int64_t size) {
        return b.node(Operator::kLRN, name, {of},
                      {{"size", size}, {"alpha", 0.5f}, {"beta", 0.5f}, {"bias", 2.0f}});
    };
    const Graph whole = b.finish({lrn("even", x, 4), lrn("odd", x, 3), lrn("line", line, 2)});
    // Of a channel and the one after it.
    std::vector<Tensor> inputs = seeded_inputs(whole, 1);
    inputs[1] = make_tensor({1, 3, 1}, std::span<const float>(std::vector<float>{1, 2, 3}));
    const std::vector<double> y = to_doubles(execute(whole, inputs, Precision::kFp64).at(2));
    EXPECT_NEAR(y[0], 1 / std::sqrt(2 + 0.25 * 5), 1e-7);
    EXPECT_NEAR(y[2], 3 / std::sqrt(2 + 0.25 * 9), 1e-7);
    Graph parts = whole;
    EXPECT_EQ(expand_local_response(parts), 3);
    EXPECT_EQ(count(parts, Operator::kLRN), 0u);
    expect_the_same(whole, parts, 1e-7);
}

}  // namespace
}  // namespace lockstep::network
