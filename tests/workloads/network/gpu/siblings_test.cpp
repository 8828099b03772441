// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/siblings.h"

#include <gtest/gtest.h>

#include "tests/workloads/network/gpu/run_on.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network::gpu {
namespace {

using enum Operator;

/// Three products of x [2,rows,64]; the last goes through a Relu first where that is asked for.
Graph three(std::int64_t rows, bool with_relu = false) {
    Builder b("three", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {2, rows, 64});
    std::vector<ValueId> parts;
    for (const auto& [name, columns] : {std::pair{"q", 64}, {"k", 64}, {"v", 32}}) {
        ValueId y = b.linear(name, x, columns);
        if (with_relu && name == std::string("v")) y = b.node(kRelu, "relu", {y});
        parts.push_back(b.transpose(std::string(name) + ".columns", y, {0, 2, 1}));
    }
    return b.finish(parts);
}

std::size_t products_of(const Graph& graph) {
    return static_cast<std::size_t>(std::ranges::count(graph.nodes, kMatMul, &Node::op));
}

TEST(Siblings, AreOneProductWithTheSameResults) {
    for (const Precision precision : {Precision::kFp32, Precision::kFp16}) {
        const Ran ran = run_on(three(48), "h200", precision);
        EXPECT_EQ(products_of(ran.code.graph), 1u);
        ASSERT_EQ(ran.results.size(), 3u);
        EXPECT_EQ(ran.results[2].shape, (Shape{2, 32, 48}));
        expect_right(ran);
        // Against the network whose products are apart.
        const Graph apart = three(48);
        std::vector<Tensor> inputs;
        for (const ValueId id : apart.inputs)
            inputs.push_back(from_floats(ElementType::kFp32, apart.shape(id),
                                         to_floats(seeded_inputs(apart, 1)[0])));
        const std::vector<Tensor> wanted = execute(apart, inputs);
        const float tolerance = precision == Precision::kFp32 ? 1e-5f : 2e-2f;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const std::vector<float> got = to_floats(ran.results[i]), right = to_floats(wanted[i]);
            ASSERT_EQ(got.size(), right.size());
            for (std::size_t e = 0; e < got.size(); ++e) ASSERT_NEAR(got[e], right[e], tolerance);
        }
    }
}

TEST(Siblings, StayApartWhereTheirSumsGoOn) {
    Graph graph = three(48, true);
    simplify(graph);
    legalise(graph);
    EXPECT_EQ(join_siblings(graph, target_named("h200"), Precision::kFp32), 1);
    EXPECT_EQ(products_of(graph), 2u);
}

TEST(Siblings, OfQueriesKeysAndValuesMakeOneLaunchOfThree) {
    const Ran ran =
        run_on(builtin("bert_block:hidden=64,heads=2,seq=16"), "a100", Precision::kFp16);
    expect_right(ran);
    // These, scores and context, the output's and the perceptron's two.
    EXPECT_EQ(products_of(ran.code.graph), 6u);
}

}  // namespace
}  // namespace lockstep::network::gpu
