// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/fusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Graph simplified(std::string_view name, bool with_values = true) {
    Graph graph = build_network(name, {.with_values = with_values});
    simplify(graph);
    return graph;
}

std::vector<std::string> names(const Graph& graph, FusionOptions options = {}) {
    std::vector<std::string> list;
    for (const Layer& layer : layers_of(graph, options)) list.push_back(name_of(graph, layer));
    return list;
}

/// Each node once, and each layer after those it reads from.
void expect_sound(const Graph& graph) {
    std::vector<int> count(graph.nodes.size(), 0);
    std::vector<bool> ready(graph.values.size(), false);
    for (std::size_t i = 0; i < graph.values.size(); ++i)
        ready[i] = graph.values[i].kind != ValueKind::kComputed;
    for (const Layer& layer : layers_of(graph)) {
        for (const ValueId id : layer.inputs) EXPECT_TRUE(ready[id]) << name_of(graph, layer);
        for (const ValueId id : layer.outputs) ready[id] = true;
        for (const std::size_t n : layer.nodes) ++count[n];
        EXPECT_FALSE(layer.outputs.empty());
    }
    for (const int c : count) EXPECT_EQ(c, 1);
    for (const ValueId id : graph.outputs) EXPECT_TRUE(ready[id]);
}

TEST(Fusion, FollowsTheChainOfAProduct) {
    const Graph graph = simplified("alexnet", false);
    EXPECT_THAT(names(graph),
                ElementsAre("conv1+conv1.relu+conv1.pool", "conv2+conv2.relu+conv2.pool",
                            "conv3+conv3.relu", "conv4+conv4.relu", "conv5+conv5.relu+conv5.pool",
                            "flatten", "fc6+fc6.relu", "fc7+fc7.relu", "fc8"));
    EXPECT_EQ(names(graph, {.pooling = false}).size(), 12u);
    expect_sound(graph);
}

TEST(Fusion, AddsTheResidualInTheLaterProduct) {
    Builder b("residual", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 4, 6, 6});
    const ValueId left = b.convolution("left", x, 4, 3, {.pad = 1});
    const ValueId right = b.convolution("right", x, 4, 1, {});
    const ValueId sum = b.node(Operator::kAdd, "sum", {left, right});
    const Graph graph = b.finish({b.node(Operator::kRelu, "relu", {sum})});
    const std::vector<Layer> layers = layers_of(graph);
    ASSERT_EQ(layers.size(), 2u);
    EXPECT_EQ(name_of(graph, layers[0]), "left");
    EXPECT_EQ(name_of(graph, layers[1]), "right+sum+relu");
    EXPECT_THAT(layers[1].inputs,
                UnorderedElementsAre(x, graph.nodes[1].inputs[1], graph.nodes[0].outputs[0]));
    EXPECT_THAT(layers[1].outputs, ElementsAre(graph.outputs[0]));
    EXPECT_THAT(names(graph, {.residual = false}), ElementsAre("left", "right", "sum", "relu"));
}

TEST(Fusion, LeavesWhatOthersRead) {
    Builder b("shared", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 4});
    const ValueId y = b.linear("fc", x, 4);
    const ValueId z = b.node(Operator::kRelu, "relu", {y});
    EXPECT_THAT(names(b.finish({z, y})), ElementsAre("fc", "relu"));
}

TEST(Fusion, IsSoundOnAllNetworks) {
    for (const BuiltinNetwork& network : builtin_networks()) {
        SCOPED_TRACE(network.name);
        Graph graph = simplified(network.name, false);
        expect_sound(graph);
        fold_bias(graph);
        validate(graph);
        expect_sound(graph);
    }
    // 53 convolutions (the poolings in them), the flattening, the classifier.
    EXPECT_EQ(names(simplified("resnet50", false)).size(), 55u);
}

TEST(Fusion, FoldsBiasesToTheSameBits) {
    Graph graph = build_network(
        "bert_block", {.parameters = {{"hidden", 32}, {"heads", 4}, {"seq", 5}, {"batch", 2}}});
    Tensor x(ElementType::kFp32, {2, 5, 32});
    for (std::size_t i = 0; i < 320; ++i)
        x.as<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
    const std::vector<Tensor> before = execute(graph, {x});
    const std::int64_t parameters = parameter_count(graph);
    EXPECT_EQ(fold_bias(graph), 6);
    validate(graph);
    EXPECT_EQ(execute(graph, {x}), before);
    EXPECT_EQ(parameter_count(graph), parameters);
    EXPECT_EQ(graph.nodes.at(0).name, "layer.q.matmul+layer.q");
}

TEST(Fusion, FoldsTheBiasOfAConvolution) {
    Builder b("bias", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 2, 4, 4});
    const ValueId y = b.convolution("conv", x, 3, 3, {});
    const ValueId bias = b.weight("bias", {3, 1, 1}, 1);
    Graph graph = b.finish({b.node(Operator::kAdd, "add", {bias, y})});
    Tensor image(ElementType::kFp32, {1, 2, 4, 4});
    for (std::size_t i = 0; i < 32; ++i) image.as<float>()[i] = static_cast<float>(i) - 16;
    const std::vector<Tensor> before = execute(graph, {image});
    EXPECT_EQ(fold_bias(graph), 1);
    EXPECT_EQ(execute(graph, {image}), before);
    EXPECT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(graph.shape(graph.nodes[0].inputs.at(2)), (Shape{3}));
}

}  // namespace
}  // namespace lockstep::network
