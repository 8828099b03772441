// SPDX-License-Identifier: Apache-2.0
// Shapes against those that PyTorch and the ONNX operator reference give.
#include "workloads/network/shapes/shape_inference.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network {
namespace {

using Integers = std::vector<std::int64_t>;

/// The shape of `op` over inputs of these shapes, then these constant integer vectors.
Shape infer(Operator op, const std::vector<Shape>& inputs, Attributes attributes = {},
            const std::vector<Integers>& constants = {}) {
    Builder b("test", 1, false);
    std::vector<ValueId> ids;
    for (const Shape& shape : inputs) ids.push_back(b.input("x", ElementType::kFp32, shape));
    for (const Integers& values : constants)
        ids.push_back(b.constant("c", make_tensor({static_cast<std::int64_t>(values.size())},
                                                  std::span<const std::int64_t>(values))));
    return b.shape(b.node(op, "node", ids, std::move(attributes)));
}

TEST(ShapeInference, Windows) {
    const Shape image = {1, 3, 224, 224};
    EXPECT_EQ(infer(Operator::kConv, {image, {64, 3, 7, 7}},
                    {{"strides", Integers{2, 2}}, {"pads", Integers{3, 3, 3, 3}}}),
              (Shape{1, 64, 112, 112}));
    EXPECT_EQ(infer(Operator::kConv, {image, {6, 1, 3, 3}},
                    {{"group", std::int64_t{3}}, {"dilations", Integers{2, 1}}}),
              (Shape{1, 6, 220, 222}));
    EXPECT_EQ(infer(Operator::kConv, {{1, 1, 5, 6}, {1, 1, 3, 3}},
                    {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Integers{2, 2}}}),
              (Shape{1, 1, 3, 3}));
    const Attributes pool = {{"kernel_shape", Integers{3, 3}}, {"strides", Integers{2, 2}}};
    EXPECT_EQ(infer(Operator::kMaxPool, {{1, 8, 6, 6}}, pool), (Shape{1, 8, 2, 2}));
    Attributes ceil = pool;
    ceil["ceil_mode"] = std::int64_t{1};
    EXPECT_EQ(infer(Operator::kMaxPool, {{1, 8, 6, 6}}, ceil), (Shape{1, 8, 3, 3}));
    // A window that would begin in the padding is dropped (PyTorch).
    EXPECT_EQ(infer(Operator::kMaxPool, {{1, 1, 3, 3}},
                    {{"kernel_shape", Integers{1, 1}},
                     {"strides", Integers{3, 3}},
                     {"pads", Integers{0, 0, 1, 1}},
                     {"ceil_mode", std::int64_t{1}}}),
              (Shape{1, 1, 1, 1}));
    EXPECT_THROW(infer(Operator::kConv, {{1, 3, 2, 2}, {1, 3, 3, 3}}), InputError);
    EXPECT_THROW(infer(Operator::kConv, {image, {64, 4, 7, 7}}), InputError);
}

TEST(ShapeInference, Matrices) {
    EXPECT_EQ(infer(Operator::kMatMul, {{2, 1, 4, 3}, {5, 3, 6}}), (Shape{2, 5, 4, 6}));
    EXPECT_EQ(infer(Operator::kMatMul, {{3}, {3}}), Shape{});
    EXPECT_EQ(infer(Operator::kMatMul, {{7, 2, 3}, {3}}), (Shape{7, 2}));
    EXPECT_EQ(infer(Operator::kGemm, {{3, 2}, {4, 3}},
                    {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}}),
              (Shape{2, 4}));
    EXPECT_THROW(infer(Operator::kGemm, {{3, 2}, {4, 3}}), InputError);
    EXPECT_THROW(infer(Operator::kMatMul, {{2, 3}, {2, 3}}), InputError);
}

TEST(ShapeInference, Movement) {
    EXPECT_EQ(infer(Operator::kReshape, {{2, 3, 4}}, {}, {{0, -1}}), (Shape{2, 12}));
    EXPECT_EQ(infer(Operator::kFlatten, {{2, 3, 4}}, {{"axis", std::int64_t{2}}}), (Shape{6, 4}));
    EXPECT_EQ(infer(Operator::kTranspose, {{2, 3, 4}}), (Shape{4, 3, 2}));
    EXPECT_EQ(infer(Operator::kConcat, {{2, 3}, {2, 5}}, {{"axis", std::int64_t{-1}}}),
              (Shape{2, 8}));
    EXPECT_EQ(infer(Operator::kUnsqueeze, {{2, 3}}, {}, {{0, -1}}), (Shape{1, 2, 3, 1}));
    EXPECT_EQ(infer(Operator::kSqueeze, {{1, 2, 1}}), Shape{2});
    EXPECT_EQ(infer(Operator::kSqueeze, {{1, 2, 1}}, {{"axes", Integers{0}}}), (Shape{2, 1}));
    EXPECT_EQ(infer(Operator::kSlice, {{10, 10}}, {}, {{1, -1}, {100, -100}, {0, 1}, {3, -4}}),
              (Shape{3, 3}));
    EXPECT_EQ(infer(Operator::kPad, {{2, 3}}, {}, {{0, 1, 2, 3}}), (Shape{4, 7}));
    EXPECT_EQ(infer(Operator::kExpand, {{3, 1}}, {}, {{2, 1, 6}}), (Shape{2, 3, 6}));
    EXPECT_EQ(infer(Operator::kReduceMean, {{2, 3, 4}},
                    {{"axes", Integers{-1}}, {"keepdims", std::int64_t{0}}}),
              (Shape{2, 3}));
    EXPECT_THROW(infer(Operator::kReshape, {{2, 3, 4}}, {}, {{5, -1}}), InputError);
    EXPECT_THROW(infer(Operator::kReshape, {{2, 3}, {2}}), InputError);
}

TEST(ShapeInference, EmptyAndExtremeSlices) {
    EXPECT_EQ(
        infer(Operator::kSlice, {{0, 4}}, {}, {{3, INT64_MAX}, {INT64_MIN, 0}, {0, 1}, {-1, -1}}),
        (Shape{0, 3}));
    EXPECT_THROW(infer(Operator::kSlice, {{4}}, {}, {{0}, {1}, {0}, {0}}), InputError);
}

TEST(ShapeInference, RepeatsLongExtentsAsLongAsTheResultFits) {
    EXPECT_EQ(infer(Operator::kTile, {{1, 3 << 20}}, {}, {{2, 1}}), (Shape{2, 3 << 20}));
    EXPECT_THROW(infer(Operator::kTile, {{1 << 30}}, {}, {{1 << 30}}), InputError);
    EXPECT_THROW(infer(Operator::kTile, {{4}}, {}, {{-1}}), InputError);
}

TEST(ShapeInference, ChecksElementTypes) {
    Builder b("test", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 2});
    const ValueId i = b.input("i", ElementType::kInt64, {2, 2});
    EXPECT_THROW(b.node(Operator::kMatMul, "n", {x, i}), InputError);
    EXPECT_THROW(b.node(Operator::kGemm, "n", {i, i}), InputError);
    EXPECT_THROW(b.node(Operator::kNot, "n", {x}), InputError);
    EXPECT_THROW(b.node(Operator::kSoftmax, "n", {i}), InputError);
}

TEST(ShapeInference, Broadcasting) {
    EXPECT_EQ(infer(Operator::kAdd, {{2, 1, 4}, {3, 1}}), (Shape{2, 3, 4}));
    EXPECT_THROW(infer(Operator::kAdd, {{2, 3}, {2}}), InputError);
}

}  // namespace
}  // namespace lockstep::network
