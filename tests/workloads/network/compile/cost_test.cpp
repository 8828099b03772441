// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/cost.h"

#include <gtest/gtest.h>

#include "workloads/network/graph/builder.h"

namespace lockstep::network::compile {
namespace {

TEST(NodeCost, CountsProductsAndTraffic) {
    Builder b("cost", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 3, 8, 16});
    const ValueId y = b.input("y", ElementType::kFp32, {2, 3, 16, 4});
    const ValueId z = b.node(Operator::kMatMul, "product", {x, y});
    const ValueId r = b.reshape("view", z, {6, 32});
    const Graph graph = b.finish({b.node(Operator::kRelu, "relu", {r})});
    const NodeCost product = cost_of(graph, graph.nodes[0]);
    EXPECT_EQ(product.operations, 2u * 2 * 3 * 8 * 4 * 16);
    EXPECT_EQ(product.bytes, 4u * (2 * 3 * 8 * 16 + 2 * 3 * 16 * 4 + 6 * 32));
    EXPECT_EQ(cost_of(graph, graph.nodes[1]).bytes, 0u);
    EXPECT_EQ(cost_of(graph, graph.nodes[2]).operations, 6u * 32);
}

}  // namespace
}  // namespace lockstep::network::compile
