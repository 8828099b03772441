// SPDX-License-Identifier: Apache-2.0
// Recognised operators compute what their parts do.
#include "workloads/network/reference/recognise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/paths.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

void expect_the_same(const Graph& before, const Graph& after) {
    validate(after);
    const std::vector<Tensor> x = seeded_inputs(before, 1);
    EXPECT_THAT(to_doubles(execute(after, x, Precision::kFp64).at(0)),
                Pointwise(DoubleNear(1e-6), to_doubles(execute(before, x, Precision::kFp64)[0])));
}

std::size_t count(const Graph& graph, Operator op) {
    std::size_t n = 0;
    for (const Node& node : graph.nodes) n += node.op == op;
    return n;
}

TEST(Recognise, WhatPytorchWritesOut) {
    const auto path =
        std::filesystem::path(source_path()) / "tests/workloads/network/data/attention_13.onnx";
    Graph graph = read_onnx(path, {.dimensions = {{"batch", 2}, {"seq", 6}}});
    infer_and_fold(graph);
    remove_unused(graph);
    const Graph before = graph;
    EXPECT_EQ(recognise_gelu(graph), 1);
    EXPECT_EQ(recognise_layer_normalisation(graph), 1);
    EXPECT_EQ(count(graph, Operator::kErf), 0u);
    EXPECT_EQ(count(graph, Operator::kReduceMean), 0u);
    // 5 nodes became one, 9 another.
    EXPECT_EQ(graph.nodes.size(), before.nodes.size() - 4 - 8);
    expect_the_same(before, graph);
}

/// Builds the parts with `node` and scalar constants.
struct Parts {
    Builder b{"parts", 1};
    ValueId x = b.input("x", ElementType::kFp32, {3, 8});
    int number = 0;

    ValueId scalar(float value) {
        return b.constant("c", make_tensor({}, std::span<const float>(&value, 1)));
    }
    ValueId node(Operator op, ValueId a, ValueId c) {
        return b.node(op, "n" + std::to_string(++number), {a, c});
    }
    ValueId node(Operator op, ValueId a) { return b.node(op, "n" + std::to_string(++number), {a}); }
};

TEST(Recognise, TheTanhFormOfGelu) {
    for (const bool gate_first : {false, true}) {
        Parts p;
        const ValueId cube = p.node(Operator::kPow, p.x, p.scalar(3));
        const ValueId sum =
            p.node(Operator::kAdd, p.x, p.node(Operator::kMul, p.scalar(0.044715f), cube));
        const ValueId tanh =
            p.node(Operator::kTanh,
                   p.node(Operator::kMul, sum, p.scalar(static_cast<float>(std::sqrt(2 / M_PI)))));
        const ValueId gate = p.node(Operator::kAdd, p.scalar(1), tanh);
        const ValueId y =
            gate_first ? p.node(Operator::kMul, p.node(Operator::kMul, gate, p.x), p.scalar(0.5f))
                       : p.node(Operator::kMul, p.node(Operator::kMul, p.x, p.scalar(0.5f)), gate);
        const Graph before = p.b.finish({y});
        Graph after = before;
        EXPECT_EQ(recognise_gelu(after), 1);
        EXPECT_EQ(after.nodes.size(), 1u);
        expect_the_same(before, after);
    }
}

TEST(Recognise, LeavesWhatIsSomethingElse) {
    // The gate is of another value.
    Parts p;
    const ValueId z = p.b.input("z", ElementType::kFp32, {3, 8});
    const ValueId erf =
        p.node(Operator::kErf, p.node(Operator::kDiv, z, p.scalar(static_cast<float>(M_SQRT2))));
    const ValueId y = p.node(Operator::kMul,
                             p.node(Operator::kMul, p.x, p.node(Operator::kAdd, erf, p.scalar(1))),
                             p.scalar(0.5f));
    Graph graph = p.b.finish({y});
    EXPECT_EQ(recognise_gelu(graph), 0);
    EXPECT_EQ(graph.nodes.size(), 5u);
}

TEST(Recognise, ANormalisationWithoutBias) {
    Parts p;
    const Attributes last = {{"axes", std::vector<std::int64_t>{1}}};
    const ValueId mean = p.b.node(Operator::kReduceMean, "mean", {p.x}, last);
    const ValueId centred = p.node(Operator::kSub, p.x, mean);
    const ValueId variance = p.b.node(Operator::kReduceMean, "variance",
                                      {p.node(Operator::kMul, centred, centred)}, last);
    const ValueId root = p.node(Operator::kSqrt, p.node(Operator::kAdd, variance, p.scalar(1e-5f)));
    const ValueId y =
        p.node(Operator::kMul, p.node(Operator::kDiv, centred, root), p.b.weight("gamma", {8}, 1));
    const Graph before = p.b.finish({y});
    Graph after = before;
    EXPECT_EQ(recognise_layer_normalisation(after), 1);
    EXPECT_EQ(after.nodes.size(), 1u);
    expect_the_same(before, after);
    // Over another dimension it is none.
    Graph other = before;
    for (Node& node : other.nodes)
        if (node.op == Operator::kReduceMean)
            node.attributes["axes"] = std::vector<std::int64_t>{0};
    EXPECT_EQ(recognise_layer_normalisation(other), 0);
}

TEST(Recognise, ASoftmaxInItsParts) {
    for (const std::int64_t axis : {0, 1}) {
        Parts p;
        const Attributes over = {{"axes", std::vector<std::int64_t>{axis}}};
        const ValueId largest = p.b.node(Operator::kReduceMax, "largest", {p.x}, over);
        const ValueId e = p.node(Operator::kExp, p.node(Operator::kSub, p.x, largest));
        const ValueId sum = p.b.node(Operator::kReduceSum, "sum", {e}, over);
        const Graph before = p.b.finish({p.node(Operator::kDiv, e, sum)});
        Graph after = before;
        EXPECT_EQ(recognise_softmax(after), 1);
        EXPECT_EQ(after.nodes.size(), 1u);
        expect_the_same(before, after);
        // The largest of another dimension is as good for the result, but no Softmax of one.
        Graph other = before;
        for (Node& node : other.nodes)
            if (node.op == Operator::kReduceMax)
                node.attributes["axes"] = std::vector<std::int64_t>{1 - axis};
        EXPECT_EQ(recognise_softmax(other), 0);
    }
}

}  // namespace
}  // namespace lockstep::network
