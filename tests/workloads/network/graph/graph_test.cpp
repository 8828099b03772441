// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// y = Relu(x W + b)
Graph small() {
    Builder b("small", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 3});
    return b.finish({b.node(Operator::kRelu, "act", {b.linear("fc", x, 4)})});
}

TEST(Operators, AreFoundByName) {
    EXPECT_EQ(operator_named("Conv"), Operator::kConv);
    EXPECT_EQ(operator_named("LayerNormalization"), Operator::kLayerNormalization);
    EXPECT_EQ(operator_named("conv"), std::nullopt);
    EXPECT_EQ(attribute_kind(Operator::kConv, "group"), 'i');
    EXPECT_EQ(attribute_kind(Operator::kConv, "strides"), 'I');
    EXPECT_EQ(attribute_kind(Operator::kConv, "stride"), std::nullopt);
    EXPECT_EQ(attribute_kind(Operator::kRelu, "x"), std::nullopt);
}

TEST(Tensor, ConvertsElements) {
    const std::vector<double> values = {1.5, -2.75, 300};
    EXPECT_THAT(to_doubles(from_doubles(ElementType::kFp16, {3}, values)),
                ElementsAre(1.5, -2.75, 300));
    EXPECT_THAT(to_doubles(from_doubles(ElementType::kBf16, {3}, values)),
                ElementsAre(1.5, -2.75, 300));
    EXPECT_THAT(to_doubles(from_doubles(ElementType::kInt8, {3}, values)), ElementsAre(1, -2, 44));
    EXPECT_THAT(to_doubles(from_doubles(ElementType::kBool, {3}, values)), ElementsAre(1, 1, 1));
    EXPECT_THROW(element_count({1 << 30, 1 << 30}), InputError);
    EXPECT_THROW(element_count({-1}), InputError);
}

TEST(Graph, DumpsItself) {
    EXPECT_EQ(dump(small()),
              "network small: 2 nodes, 16 parameters\n"
              "inputs x:fp32[2,3]\n"
              "fc Gemm(x:fp32[2,3], fc.weight:fp32[3,4], fc.bias:fp32[4]) -> fc:fp32[2,4]\n"
              "act Relu(fc:fp32[2,4]) -> act:fp32[2,4]\n"
              "outputs act:fp32[2,4]\n");
}

TEST(Graph, OrdersNodesByTheirInputs) {
    Graph graph = small();
    std::swap(graph.nodes[0], graph.nodes[1]);
    EXPECT_THAT(topological_order(graph), ElementsAre(1, 0));
}

TEST(Graph, RejectsACycle) {
    Graph graph = small();
    graph.nodes[0].inputs[0] = graph.nodes[1].outputs[0];
    EXPECT_THAT([&] { validate(graph); },
                ThrowsMessage<InputError>(HasSubstr("fc (Gemm): is part of a cycle")));
}

TEST(Graph, RejectsWhatANodeMayNotHave) {
    Graph graph = small();
    graph.nodes[1].attributes["alpha"] = 1.0f;
    EXPECT_THAT([&] { validate(graph); },
                ThrowsMessage<InputError>("node act (Relu): attribute alpha is not known"));
    graph = small();
    graph.nodes[0].attributes["alpha"] = std::int64_t{1};
    EXPECT_THROW(validate(graph), InputError);
    graph = small();
    graph.nodes[1].inputs.push_back(0);
    EXPECT_THAT([&] { validate(graph); },
                ThrowsMessage<InputError>("node act (Relu): has 2 inputs"));
    graph = small();
    graph.nodes[1].outputs = graph.nodes[0].outputs;
    EXPECT_THAT([&] { validate(graph); }, ThrowsMessage<InputError>(HasSubstr("writes fc again")));
    graph = small();
    graph.nodes.pop_back();
    EXPECT_THAT([&] { validate(graph); },
                ThrowsMessage<InputError>("network output act is never written"));
}

TEST(Graph, ChecksQuantisation) {
    Graph graph = small();
    Value& weight = graph.values.at(graph.nodes[0].inputs[1]);
    weight.quantisation = Quantisation{{0.5f, 0.5f, 0.5f, 0.5f}, {0, 0, 0, 0}, 1};
    validate(graph);
    EXPECT_THAT(dump(graph), HasSubstr("fc.weight:fp32[3,4]@axis1"));
    weight.quantisation->axis = 0;
    EXPECT_THROW(validate(graph), InputError);
    weight.quantisation = Quantisation{{0.5f}, {-3}, std::nullopt};
    EXPECT_THAT(dump(graph), HasSubstr("fc.weight:fp32[3,4]@0.5-3"));
}

}  // namespace
}  // namespace lockstep::network
