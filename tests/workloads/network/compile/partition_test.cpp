// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/partition.h"

#include <gmock/gmock.h>

#include "workloads/network/graph/builder.h"

namespace lockstep::network::compile {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// a -> b -> view -> c, and d beside them.
Graph chain() {
    Builder b("chain", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 4});
    const ValueId y = b.input("y", ElementType::kFp32, {2, 4});
    const ValueId second = b.node(Operator::kTanh, "b", {b.node(Operator::kRelu, "a", {x})});
    const ValueId view = b.reshape("view", second, {4, 2});
    const ValueId last = b.node(Operator::kExp, "c", {view});
    return b.finish({last, b.node(Operator::kNeg, "d", {y})});
}

TEST(Partition, leaves_what_the_chip_has_in_one_group) {
    const Graph graph = chain();
    const std::vector<NodeGroup> groups = partition(graph, std::vector<Reason>(5));
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_FALSE(groups[0].on_host);
    EXPECT_EQ(groups[0].nodes, topological_order(graph));
}

TEST(Partition, does_all_that_the_chip_can_before_it_asks_the_host) {
    std::vector<Reason> reasons(5);
    reasons[1] = "no such function";
    const std::vector<NodeGroup> groups = partition(chain(), reasons);
    ASSERT_THAT(groups, SizeIs(3));
    EXPECT_THAT(groups[0].nodes, ElementsAre(0, 4));
    EXPECT_TRUE(groups[1].on_host);
    EXPECT_THAT(groups[2].nodes, ElementsAre(3));
}

TEST(Partition, moves_values_where_they_were_made) {
    std::vector<Reason> reasons(5);
    reasons[1] = "no such function";
    EXPECT_THAT(partition(chain(), reasons)[1].nodes, ElementsAre(1, 2));
    reasons[1].reset();
    reasons[3] = "no such function";
    // What only the host reads is moved there.
    EXPECT_THAT(partition(chain(), reasons)[1].nodes, ElementsAre(2, 3));
}

}  // namespace
}  // namespace lockstep::network::compile
