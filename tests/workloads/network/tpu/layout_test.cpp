// SPDX-License-Identifier: Apache-2.0
// Values that lie in other orders than their readers expect: what is added on the way out of the
// accumulators, images as rows, operands that are neither row by row nor column by column.
#include <gtest/gtest.h>

#include "tests/workloads/network/tpu/run_on.h"

namespace lockstep::network {
namespace {

using enum Operator;

class Layouts : public testing::TestWithParam<const char*> {
  protected:
    void expect_reference(const std::function<ValueId(Builder&)>& make) {
        Builder b("layouts", 3);
        const Graph graph = b.finish({make(b)});
        const Ran ran = run_on(graph, GetParam(), {"unified_buffer.size=2MiB"});
        ASSERT_FALSE(ran.checks.empty());
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    }
    static ValueId input(Builder& b, const std::string& name, Shape shape) {
        return b.input(name, ElementType::kFp32, std::move(shape));
    }
    static ValueId relu(Builder& b, const std::string& name, ValueId x) {
        return b.node(kRelu, name, {x});
    }
    static ValueId add(Builder& b, ValueId x, ValueId y) { return b.node(kAdd, "add", {x, y}); }
};

TEST_P(Layouts, EachProductOfABatchAddsItsOwnResidual) {
    expect_reference([](Builder& b) {
        const ValueId q = input(b, "q", {2, 3, 7, 8});
        const ValueId residual = relu(b, "residual", input(b, "r", {2, 3, 7, 7}));
        return add(b, b.node(kMatMul, "scores", {q, b.transpose("keys", q, {0, 1, 3, 2})}),
                   residual);
    });
    expect_reference([](Builder& b) {
        const ValueId q = input(b, "q", {3, 5, 6});
        const ValueId residual = relu(b, "residual", input(b, "r", {3, 4, 5}));
        return add(b, b.node(kMatMul, "product", {q, b.weight("w", {3, 6, 4}, 1)}),
                   b.transpose("turned", residual, {0, 2, 1}));
    });
}

TEST_P(Layouts, ConvolutionsAddImagesThatLieOtherwise) {
    expect_reference([](Builder& b) {  // channel after channel
        const ValueId x = input(b, "x", {2, 3, 6, 6});
        const ValueId y = relu(b, "relu", b.linear("rows", input(b, "z", {2, 10}), 4 * 36));
        const ValueId image = b.reshape("image", y, {2, 4, 6, 6});
        return add(b, b.convolution("conv", x, 4, 3, {.pad = 1}), image);
    });
    expect_reference([](Builder& b) {  // lines as columns
        const ValueId x = input(b, "x", {2, 3, 6, 6});
        const ValueId y = relu(b, "relu", input(b, "z", {2, 4, 6, 6}));
        return add(b, b.convolution("conv", x, 4, 3, {.pad = 1}),
                   b.transpose("turned", y, {0, 1, 3, 2}));
    });
}

TEST_P(Layouts, FlattenedImagesMeetRows) {
    const auto flat = [](Builder& b) {
        const ValueId x = input(b, "x", {2, 3, 6, 6});
        const ValueId y = relu(b, "image", b.convolution("conv", x, 4, 3, {.pad = 1}));
        return relu(b, "flat.relu", b.node(kFlatten, "flat", {y}, {{"axis", std::int64_t{1}}}));
    };
    const auto rows = [](Builder& b) {
        return relu(b, "rows.relu", b.linear("rows", input(b, "z", {2, 10}), 144));
    };
    expect_reference([&](Builder& b) {
        const ValueId y = flat(b);
        return add(b, b.linear("rows", input(b, "z", {2, 10}), 144), y);
    });
    expect_reference([&](Builder& b) { return b.node(kSub, "difference", {rows(b), flat(b)}); });
    expect_reference([&](Builder& b) {
        return b.node(kConcat, "both", {rows(b), flat(b)}, {{"axis", std::int64_t{1}}});
    });
    expect_reference([&](Builder& b) { return b.layer_normalisation("norm", flat(b), 1e-5f); });
    expect_reference([&](Builder& b) { return b.reshape("shape", flat(b), {2, 36, 4}); });
    expect_reference([&](Builder& b) {
        const ValueId y = flat(b);
        return b.node(kMatMul, "scores", {rows(b), b.transpose("columns", y, {1, 0})});
    });
    // Weights follow the order in which it lies.
    expect_reference([&](Builder& b) { return b.linear("fc", flat(b), 10); });
}

TEST_P(Layouts, RightOperandsLieInAnyOrder) {
    expect_reference([](Builder& b) {
        const ValueId x = relu(b, "relu", input(b, "x", {6, 5, 4}));
        return b.node(kMatMul, "product",
                      {input(b, "y", {5, 3, 6}), b.transpose("turned", x, {1, 0, 2})});
    });
    expect_reference([](Builder& b) {  // neither rows nor columns
        const ValueId x = relu(b, "relu", input(b, "x", {6, 4, 5}));
        return b.node(kMatMul, "product",
                      {input(b, "y", {5, 3, 6}), b.transpose("turned", x, {2, 0, 1})});
    });
}

TEST_P(Layouts, RowsAreJoinedWithoutTurningThem) {
    using Axes = std::vector<std::int64_t>;
    const auto joined = [&](Operator op, Shape shape, const Axes& axes, std::int64_t keep) {
        expect_reference([&](Builder& b) {
            const ValueId x = relu(b, "relu", input(b, "x", shape));
            return b.node(op, "joined", {x}, {{"axes", axes}, {"keepdims", keep}});
        });
    };
    for (const Operator op : {kReduceSum, kReduceMean, kReduceMax})
        for (const Axes& axes : {Axes{0}, Axes{1}, Axes{-2}, Axes{0, 1}})
            joined(op, {5, 6, 7}, axes, axes.size() == 1 ? 1 : 0);
    joined(kReduceMean, {3, 40000}, {0}, 0);  // pieces of columns
    joined(kReduceSum, {3000, 60}, {0}, 0);   // several windows of rows
    for (const std::int64_t axis : {0, 1, -2})
        for (const Shape& shape : {Shape{5, 6, 7}, Shape{3, 40, 1000}})
            expect_reference([&](Builder& b) {
                const ValueId x = relu(b, "relu", input(b, "x", shape));
                return b.node(kSoftmax, "softmax", {x}, {{"axis", axis}});
            });
}

TEST_P(Layouts, ValuesAreTurnedInTiles) {
    const auto turned = [&](Shape shape, std::vector<std::int64_t> order) {
        expect_reference([&](Builder& b) {
            const ValueId x = relu(b, "relu", input(b, "x", shape));
            const ValueId y = b.transpose("turned", x, order);
            const std::int64_t last = b.shape(y).back();
            return b.reshape("rows", y, {element_count(shape) / last, last});
        });
    };
    turned({6, 4, 5}, {2, 1, 0});
    turned({6, 4, 5}, {1, 2, 0});
    turned({3, 8, 3, 4}, {2, 3, 1, 0});
    turned({2, 5, 7, 3}, {3, 0, 2, 1});
    turned({500, 301}, {1, 0});        // more than a tile
    turned({90, 3, 700}, {1, 2, 0});   // a run of two loops, of which the longer is cut
    expect_reference([](Builder& b) {  // each value repeated along the rows
        const ValueId x = relu(b, "relu", input(b, "x", {6, 1}));
        return relu(b, "wide",
                    b.node(kExpand, "expand", {x, b.constant("shape", [] {
                                                   const std::int64_t shape[] = {6, 5};
                                                   return make_tensor(
                                                       {2}, std::span<const std::int64_t>(shape));
                                               }())}));
    });
}

INSTANTIATE_TEST_SUITE_P(Machines, Layouts, testing::Values("tpu_v1", "tpu_v3"),
                         [](const auto& made) { return std::string(made.param); });

/// Dimensions of 1 before the last are joined like others.
TEST(Layout, JoinsDimensionsOfOne) {
    const auto passes = [](const Shape& shape, auto make) {
        Builder b("ones", 5);
        const ValueId x = b.input("x", ElementType::kFp32, shape);
        const Ran ran = run_on(b.finish({make(b, x)}), "tpu_v3");
        ASSERT_FALSE(ran.checks.empty());
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    };
    for (const std::int64_t axis : {0, 1, 2})
        for (const Shape& shape : {Shape{1, 1, 12}, Shape{1, 1, 1}, Shape{1, 5, 1}})
            passes(shape, [&](Builder& b, ValueId x) {
                return b.node(Operator::kSoftmax, "softmax", {x}, {{"axis", axis}});
            });
    for (const std::vector<std::int64_t>& axes :
         {std::vector<std::int64_t>{0}, {1}, {-3, 1}, {0, 1}, {-2}})
        passes({1, 30, 1}, [&](Builder& b, ValueId x) {
            return b.node(Operator::kReduceMax, "maxima", {x},
                          {{"axes", axes}, {"keepdims", std::int64_t{1}}});
        });
}

}  // namespace
}  // namespace lockstep::network
