// SPDX-License-Identifier: Apache-2.0
// Operators that are written with others, where PyTorch's exports do not reach (execute_test.cpp
// holds the others against PyTorch).
#include "workloads/network/decompose/decompose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {
namespace {

using Integers = std::vector<std::int64_t>;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

Tensor floats(Shape shape, const std::vector<float>& values) {
    return make_tensor(std::move(shape), std::span<const float>(values));
}
Tensor integers(Shape shape, const Integers& values) {
    return make_tensor(std::move(shape), std::span<const std::int64_t>(values));
}

/// One operator over inputs, then constants.
std::vector<double> run(Operator op, const std::vector<Tensor>& inputs, Attributes attributes = {},
                        const std::vector<Tensor>& constants = {}, std::size_t result = 0,
                        std::size_t results = 1) {
    Builder b("test", 1);
    std::vector<ValueId> ids;
    for (const Tensor& t : inputs) ids.push_back(b.input("x", t.type, t.shape));
    for (const Tensor& t : constants) ids.push_back(b.constant("c", t));
    const ValueId first = b.node(op, "node", ids, std::move(attributes), results);
    Graph graph = b.finish({first + static_cast<ValueId>(result)});
    const std::vector<double> plain = to_doubles(execute(graph, inputs, Precision::kFp64).at(0));
    simplify(graph);
    for (const Node& node : graph.nodes) EXPECT_FALSE(info_of(node.op).is_composite);
    EXPECT_EQ(to_doubles(execute(graph, inputs, Precision::kFp64).at(0)), plain);
    return plain;
}

const Tensor kX = floats({4}, {-2, -0.25f, 0, 3});

TEST(Decompose, WritesFunctionsWithOthers) {
    EXPECT_THAT(run(Operator::kShrink, {kX}, {{"lambd", 1.0f}, {"bias", 0.5f}}),
                ElementsAre(-1.5, 0, 0, 2.5));
    EXPECT_THAT(run(Operator::kThresholdedRelu, {kX}, {{"alpha", 2.0f}}), ElementsAre(0, 0, 0, 3));
    EXPECT_THAT(run(Operator::kMean, {kX, floats({1}, {1})}), ElementsAre(-0.5, 0.375, 0.5, 2));
    EXPECT_THAT(run(Operator::kSize, {floats({2, 3}, {0, 0, 0, 0, 0, 0})}), ElementsAre(6));
    EXPECT_NEAR(run(Operator::kReduceLogSum, {floats({3}, {1, 2, 3})})[0], std::log(6), 1e-12);
}

TEST(Decompose, RemaindersFollowPythonOrC) {
    const Tensor x = integers({4}, {7, -7, 7, -7}), y = integers({4}, {3, 3, -3, -3});
    EXPECT_THAT(run(Operator::kMod, {x, y}), ElementsAre(1, 2, -2, -1));
    EXPECT_THAT(run(Operator::kMod, {x, y}, {{"fmod", std::int64_t{1}}}),
                ElementsAre(1, -1, 1, -1));
    EXPECT_THAT(run(Operator::kMod, {integers({1}, {INT64_MIN}), integers({1}, {-1})}),
                ElementsAre(0));
    EXPECT_THROW(run(Operator::kMod, {x, integers({1}, {0})}), InputError);
}

TEST(Decompose, MovesBlocks) {
    const Tensor x = floats({1, 4, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_THAT(run(Operator::kDepthToSpace, {x}, {{"blocksize", std::int64_t{2}}}),
                ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
    const Tensor y = floats({1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_THAT(run(Operator::kSpaceToDepth, {y}, {{"blocksize", std::int64_t{2}}}),
                ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
    EXPECT_THROW(run(Operator::kDepthToSpace, {y}, {{"blocksize", std::int64_t{2}}}), InputError);
}

TEST(Decompose, PadsAndSums) {
    const Tensor x = floats({3}, {1, 2, 3});
    EXPECT_THAT(run(Operator::kPad, {x}, {}, {integers({2}, {-1, 2})}), ElementsAre(2, 3, 0, 0));
    EXPECT_THAT(
        run(Operator::kPad, {x}, {{"mode", std::string("reflect")}}, {integers({2}, {2, 1})}),
        ElementsAre(3, 2, 1, 2, 3, 2));
    EXPECT_THROW(
        run(Operator::kPad, {x}, {{"mode", std::string("reflect")}}, {integers({2}, {3, 0})}),
        InputError);
    EXPECT_THROW(run(Operator::kPad, {x}, {}, {integers({2}, {-2, -2})}), InputError);
    const Attributes both = {{"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}};
    EXPECT_THAT(run(Operator::kCumSum, {x}, both, {integers({}, {0})}), ElementsAre(5, 3, 0));
    EXPECT_THAT(run(Operator::kOneHot, {integers({2}, {1, -1})}, {},
                    {integers({}, {3}), floats({2}, {5, 7})}),
                ElementsAre(5, 7, 5, 5, 5, 7));
}

TEST(Decompose, ResamplesByEveryRule) {
    const Tensor x = floats({1, 1, 4}, {0, 1, 2, 3});
    const auto resize = [&](Attributes attributes, std::vector<float> scales) {
        return run(Operator::kResize, {x}, std::move(attributes),
                   {floats({0}, {}), floats({static_cast<std::int64_t>(scales.size())}, scales)});
    };
    const auto nearest = [](const char* rounds) {
        return Attributes{{"mode", std::string("nearest")}, {"nearest_mode", std::string(rounds)}};
    };
    EXPECT_THAT(resize(nearest("round_prefer_floor"), {1, 1, 0.5f}), ElementsAre(0, 2));
    EXPECT_THAT(resize(nearest("round_prefer_ceil"), {1, 1, 0.5f}), ElementsAre(1, 3));
    EXPECT_THAT(resize(nearest("floor"), {1, 1, 2}), ElementsAre(0, 0, 0, 1, 1, 2, 2, 3));
    EXPECT_THAT(resize(nearest("ceil"), {1, 1, 2}), ElementsAre(0, 1, 1, 2, 2, 3, 3, 3));
    EXPECT_THAT(resize({{"mode", std::string("linear")}}, {1, 1, 2}),
                ElementsAre(0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3));
    // Without what lies outside, the weights of what lies inside add up to 1.
    const std::vector<double> inside =
        resize({{"mode", std::string("cubic")}, {"exclude_outside", std::int64_t{1}}}, {1, 1, 2});
    // The first lies a quarter before element 0: what remains are elements 0 and 1.
    const double a = -0.75, own = ((a + 2) * 0.25 - (a + 3)) * 0.0625 + 1,
                 next = ((a * 1.25 - 5 * a) * 1.25 + 8 * a) * 1.25 - 4 * a;
    EXPECT_NEAR(inside[0], next / (own + next), 1e-7);
    EXPECT_THROW(resize({{"mode", std::string("nearest")}}, {1, 1}), InputError);
    EXPECT_THROW(
        resize({{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}, {1, 1, 2}),
        InputError);
}

TEST(Decompose, ResetsTheStateOfGruBeforeTheProduct) {
    // One unit, one step, no biases: z, r, n from x = 1 and h = 0.5.
    const Tensor x = floats({1, 1, 1}, {1}), w = floats({1, 3, 1}, {0.1f, 0.2f, 0.3f}),
                 r = floats({1, 3, 1}, {0.4f, 0.5f, 0.6f}), h = floats({1, 1, 1}, {0.5f});
    Builder b("gru", 1);
    const ValueId in = b.input("x", ElementType::kFp32, {1, 1, 1});
    const ValueId out =
        b.node(Operator::kGRU, "gru",
               {in, b.constant("w", w), b.constant("r", r), kNoValue, kNoValue, b.constant("h", h)},
               {}, 2);
    const Graph graph = b.finish({out});
    const double z = 1 / (1 + std::exp(-(0.1 + 0.2))), reset = 1 / (1 + std::exp(-(0.2 + 0.25))),
                 n = std::tanh(0.3 + reset * 0.5 * 0.6);
    const std::vector<double> y = to_doubles(execute(graph, {x}, Precision::kFp64).at(0));
    EXPECT_NEAR(y.at(0), n + z * (0.5 - n), 1e-7);
}

TEST(Decompose, ScattersAndTakesTheLargest) {
    const Tensor x = floats({2, 2}, {1, 2, 3, 4});
    const Attributes add = {{"reduction", std::string("add")}};
    EXPECT_THAT(
        run(Operator::kScatterND, {x, integers({2, 1}, {0, 0}), floats({2, 2}, {1, 1, 1, 1})}, add),
        ElementsAre(3, 4, 3, 4));
    EXPECT_THAT(run(Operator::kScatterElements,
                    {x, integers({1, 2}, {-1, -1}), floats({1, 2}, {5, 6})}, {}),
                ElementsAre(1, 2, 5, 6));
    EXPECT_THAT(
        run(Operator::kGatherND, {x, integers({2, 1}, {1, 0})}, {{"batch_dims", std::int64_t{1}}}),
        ElementsAre(2, 3));
    EXPECT_THROW(run(Operator::kGatherND, {x, integers({1, 2}, {0, 2})}), InputError);
    const Attributes smallest = {{"largest", std::int64_t{0}}, {"axis", std::int64_t{0}}};
    EXPECT_THAT(run(Operator::kTopK, {x}, smallest, {integers({1}, {1})}, 0, 2), ElementsAre(1, 2));
    EXPECT_THAT(run(Operator::kTopK, {x}, {}, {integers({1}, {2})}, 1, 2), ElementsAre(1, 0, 1, 0));
    EXPECT_THROW(run(Operator::kTopK, {x}, {}, {integers({1}, {3})}, 0, 2), InputError);
}

TEST(Decompose, RefusesWhatItDoesNotMean) {
    const Tensor x = floats({2, 2}, {1, 2, 3, 4});
    const auto einsum = [&](const char* equation) {
        return run(Operator::kEinsum, {x, x}, {{"equation", std::string(equation)}});
    };
    EXPECT_THAT(einsum("ij, jk"), ElementsAre(7, 10, 15, 22));
    EXPECT_THAT(einsum("ij,kl->"), ElementsAre(100));
    for (const char* wrong : {"ii,jk->ik", "...i,ij->...j", "ij->i", "ij,jk,kl->il", "ij,jkl->i",
                              "ij,jk->ikz", "ij,jk->ii"})
        EXPECT_THROW(einsum(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace lockstep::network
