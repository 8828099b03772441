// SPDX-License-Identifier: Apache-2.0
// What a core says of nodes before anything is placed.
#include "workloads/network/tpu/operators.h"

#include <gmock/gmock.h>

#include "workloads/network/graph/builder.h"

namespace lockstep::network::lowering {
namespace {

const TpuTarget kFirst{.generation = 1, .limits = {}}, kLater{.generation = 2, .limits = {}};

compile::Reason ask(const Graph& graph, const TpuTarget& target) {
    return can_lower({graph, target, graph.nodes.back()});
}

Graph unary(Operator op, Attributes attributes = {}) {
    Builder b("unary", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {4, 8});
    return b.finish({b.node(op, "node", {x}, std::move(attributes))});
}

TEST(CanLower, asks_the_vector_unit_for_functions) {
    EXPECT_EQ(ask(unary(Operator::kSoftplus), kLater), std::nullopt);
    EXPECT_EQ(ask(unary(Operator::kTan), kLater), "the vector unit has no such operation");
    EXPECT_EQ(ask(unary(Operator::kLeakyRelu, {{"alpha", 0.3f}}), kLater),
              "the vector unit has no such operation");
}

TEST(CanLower, gives_what_is_floating_to_the_host_of_generation_1) {
    EXPECT_EQ(ask(unary(Operator::kRelu), kFirst), "takes fp32");
}

TEST(CanLower, names_the_axis_that_it_does_not_reduce) {
    EXPECT_EQ(
        ask(unary(Operator::kSoftmax, {{"axis", std::int64_t{0}}, {"flatten", std::int64_t{1}}}),
            kLater),
        "not along the last axis");
    EXPECT_EQ(ask(unary(Operator::kSoftmax), kLater), std::nullopt);
    EXPECT_EQ(ask(unary(Operator::kSoftmax, {{"axis", std::int64_t{0}}}), kLater), std::nullopt)
        << "along the rows";
}

TEST(CanLower, takes_filters_that_are_computed_but_on_generation_1) {
    Builder b("filters", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 4, 8, 8});
    const ValueId w = b.input("w", ElementType::kFp32, {4, 4, 3, 3});
    const Graph graph = b.finish({b.node(Operator::kConv, "conv", {x, w})});
    EXPECT_EQ(ask(graph, kLater), std::nullopt);
    EXPECT_NE(ask(graph, kFirst), std::nullopt);
}

}  // namespace
}  // namespace lockstep::network::lowering
