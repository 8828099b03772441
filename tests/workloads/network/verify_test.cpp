// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/verify.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::network {
namespace {

Tensor tensor(std::vector<float> values, Shape shape) {
    return make_tensor(std::move(shape), std::span<const float>(values));
}

TEST(Verify, SaysWhereAndByHowMuch) {
    const Tensor expected = tensor({1, 2, 3, 4}, {2, 2});
    EXPECT_TRUE(compare(expected, expected).passed());
    const Comparison wrong = compare(expected, tensor({1, 2, 3.5f, 5}, {2, 2}));
    EXPECT_EQ(wrong.wrong, 2);
    EXPECT_EQ(wrong.worst, 1);
    EXPECT_EQ(wrong.message, "element [1,0] is 3.5, not 3 (allowed: 0); 2 of 4 elements are wrong");
    EXPECT_EQ(compare(expected, tensor({1, 2, 3, 4}, {4})).message, "the shape is [4], not [2,2]");
}

TEST(Verify, TolerancesAddUp) {
    const Tensor expected = tensor({0, 100}, {2});
    const Tensor actual = tensor({0.5f, 101}, {2});
    EXPECT_FALSE(compare(expected, actual, {.relative = 0.02}).passed());
    EXPECT_TRUE(compare(expected, actual, {.relative = 0.01, .of_scale = 0.01}).passed());
}

TEST(Verify, NanIsOnlyNan) {
    const Tensor nan = tensor({NAN}, {1}), one = tensor({1}, {1}),
                 infinity = tensor({INFINITY}, {1});
    EXPECT_TRUE(compare(nan, nan).passed());
    EXPECT_FALSE(compare(nan, one, {1, 1}).passed());
    EXPECT_FALSE(compare(one, nan, {1, 1}).passed());
    EXPECT_TRUE(compare(infinity, infinity).passed());
    EXPECT_FALSE(compare(infinity, one, {1, 1}).passed());
}

TEST(Verify, IntegersAndOtherTypes) {
    const std::vector<int64_t> values = {1, 2};
    const Tensor a = from_integers(ElementType::kInt8, {2}, values),
                 b = from_integers(ElementType::kInt32, {2}, values);
    EXPECT_TRUE(compare(a, b).passed());
}

}  // namespace
}  // namespace lockstep::network
