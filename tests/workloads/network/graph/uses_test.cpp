// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/network/builtin/builtin.h"

namespace lockstep::network {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// x -> Relu -> a; Add(a, a) -> b; Sub(b, x) -> c; Dropout(c) -> d, mask; results b, d and d again.
struct Small {
    Graph graph;
    ValueId x, a, b, c, d, mask;
    Small() {
        const auto value = [&](const char* name) { return graph.add({.name = name}); };
        x = value("x"), a = value("a"), b = value("b"), c = value("c"), d = value("d"),
        mask = value("mask");
        const auto node = [&](Operator op, std::vector<ValueId> in, std::vector<ValueId> out) {
            graph.nodes.push_back({"", op, std::move(in), std::move(out), {}});
        };
        node(Operator::kRelu, {x}, {a});
        node(Operator::kAdd, {a, a}, {b});
        node(Operator::kSub, {b, x}, {c});
        node(Operator::kDropout, {c, kNoValue}, {d, mask});
        graph.inputs = {x};
        graph.outputs = {b, d, d};
    }
};

TEST(Uses, NamesReadersInOrderOncePerOperand) {
    const Small s;
    const Uses uses(s.graph);
    EXPECT_THAT(uses.readers(s.x), ElementsAre(0, 2));
    EXPECT_THAT(uses.readers(s.a), ElementsAre(1, 1));
    EXPECT_THAT(uses.readers(s.b), ElementsAre(2));
    EXPECT_THAT(uses.readers(s.d), IsEmpty());
}

TEST(Uses, CountsOperandsAndResults) {
    const Small s;
    const Uses uses(s.graph);
    EXPECT_THAT(uses.counts(), ElementsAre(2, 2, 2, 1, 2, 0));
    EXPECT_TRUE(uses.is_read(s.d));
    EXPECT_FALSE(uses.is_read(s.mask));
    EXPECT_TRUE(uses.is_result(s.b));
    EXPECT_TRUE(uses.is_result(s.d));
    EXPECT_FALSE(uses.is_result(s.a));
}

TEST(Uses, ValueIsReadAloneOnlyWhereItIsNoResultAndNoOperandTwice) {
    const Small s;
    const Uses uses(s.graph);
    EXPECT_EQ(uses.only_reader(s.c), 3u);
    EXPECT_EQ(uses.only_reader(s.a), Uses::kNobody);
    EXPECT_EQ(uses.only_reader(s.b), Uses::kNobody);
    EXPECT_EQ(uses.only_reader(s.mask), Uses::kNobody);
    const std::vector<ValueId> mask = {s.mask};
    EXPECT_EQ(Uses(s.graph, mask).only_reader(s.mask), Uses::kNobody);
    EXPECT_EQ(Uses(s.graph, mask).only_reader(s.b), 2u);
}

TEST(Uses, NamesWriters) {
    const Small s;
    const Uses uses(s.graph);
    EXPECT_EQ(uses.writer(s.x), Uses::kNobody);
    EXPECT_EQ(uses.writer(s.c), 2u);
    EXPECT_EQ(uses.writer(s.mask), 3u);
}

TEST(Uses, AgreesWithASearchOfAWholeNetwork) {
    const Graph graph = build_network("mobilenet_v2", {.with_values = false});
    const Uses uses(graph);
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        std::vector<std::size_t> readers;
        for (std::size_t n = 0; n < graph.nodes.size(); ++n)
            for (const ValueId input : graph.nodes[n].inputs)
                if (input == id) readers.push_back(n);
        EXPECT_THAT(uses.readers(id), ::testing::ElementsAreArray(readers));
    }
}

}  // namespace
}  // namespace lockstep::network
