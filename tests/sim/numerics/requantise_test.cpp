// SPDX-License-Identifier: Apache-2.0
// Requantisation against hand-computed integers and against exact arithmetic in long double.
#include "sim/numerics/requantise.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lockstep::numerics {
namespace {

TEST(Requantise, HandComputed) {
    const FixedPointScale half = fixed_point_scale(0.5);
    EXPECT_EQ(half, (FixedPointScale{1 << 30, 31}));
    EXPECT_EQ(multiply(3, half), 2);    // 1.5 up
    EXPECT_EQ(multiply(-3, half), -1);  // -1.5 up
    EXPECT_EQ(multiply(-4, half), -2);
    EXPECT_EQ(requantise(1000, half, 10), 127);
    EXPECT_EQ(requantise(-1000, half, 10), -128);
    EXPECT_EQ(requantise(-20, half, 10, {0, 255}), 0);
    EXPECT_EQ(requantise(30, half, 128, {0, 255}), 143);
    EXPECT_EQ(requantise(30, half, 0, {0, 6}), 6);
    // 0.3 = 0.6 * 2^-1, 0.6 * 2^31 = 1288490188.8.
    EXPECT_EQ(fixed_point_scale(0.3), (FixedPointScale{1288490189, 32}));
    EXPECT_EQ(multiply(10, fixed_point_scale(0.3)), 3);
    EXPECT_EQ(multiply(5, fixed_point_scale(3.0)), 15);
    EXPECT_EQ(fixed_point_scale(0), FixedPointScale{});
    EXPECT_EQ(fixed_point_scale(0x1p-40), FixedPointScale{});
    EXPECT_EQ(fixed_point_scale(1 - 0x1p-40), (FixedPointScale{1 << 30, 30}));
    EXPECT_EQ(multiply(INT32_MIN, fixed_point_scale(0x1p-32)), 0);  // -0.5 up
    EXPECT_EQ(multiply(INT32_MIN, fixed_point_scale(0x1p29)), -(int64_t{1} << 60));
}

TEST(Requantise, AddsBeforeItRounds) {
    const FixedPointPair pair = fixed_point_pair(0.5, -0.25);
    EXPECT_EQ(pair.first, 1 << 30);
    EXPECT_EQ(pair.second, -(1 << 29));
    EXPECT_EQ(pair.shift, 31);
    EXPECT_EQ(multiply(3, 1, pair), 1);    // 1.25
    EXPECT_EQ(multiply(3, 2, pair), 1);    // 1
    EXPECT_EQ(multiply(1, 4, pair), 0);    // -0.5 up
    EXPECT_EQ(multiply(-1, 4, pair), -1);  // -1.5 up
    EXPECT_EQ(multiply(255, 255, fixed_point_pair(1, 1)), 510);
    EXPECT_EQ(multiply(255, 255, fixed_point_pair(0, 0)), 0);
}

TEST(Requantise, InFp32TiesGoToEven) {
    EXPECT_EQ(requantise_in_fp32(3, 0.5f, 0), 2);
    EXPECT_EQ(requantise_in_fp32(5, 0.5f, 0), 2);
    EXPECT_EQ(requantise_in_fp32(-3, 0.5f, 7), 5);
    EXPECT_EQ(requantise_in_fp32(INT32_MAX, 1e20f, -3), 127);
    EXPECT_EQ(requantise_in_fp32(INT32_MIN, 1e20f, -3), -128);
}

RC_GTEST_PROP(Requantise, RoundsOnce, (int32_t sum)) {
    const double scale = *rc::gen::map(rc::gen::inRange<int64_t>(1, int64_t{1} << 40),
                                       [](int64_t x) { return static_cast<double>(x) * 0x1p-41; });
    const FixedPointScale fixed = fixed_point_scale(scale);
    RC_ASSERT(std::abs(fixed.multiplier * std::ldexp(1.0, -fixed.shift) - scale) <=
              scale * 0x1p-31 + (fixed.multiplier == 0 ? 0x1p-32 : 0));
    const long double exact =
        static_cast<long double>(sum) * fixed.multiplier * std::ldexp(1.0L, -fixed.shift);
    RC_ASSERT(multiply(sum, fixed) == static_cast<int64_t>(std::floor(exact + 0.5L)));
}

RC_GTEST_PROP(Requantise, BothWaysDifferByOneStepAtMost, ()) {
    const auto sum = *rc::gen::inRange<int32_t>(-(1 << 24), 1 << 24);
    const auto zero = *rc::gen::inRange<int32_t>(-128, 128);
    const auto scale = static_cast<float>(*rc::gen::inRange(1, 1 << 20)) * 0x1p-30f;
    RC_ASSERT(std::abs(requantise(sum, fixed_point_scale(scale), zero) -
                       requantise_in_fp32(sum, scale, zero)) <= 1);
}

}  // namespace
}  // namespace lockstep::numerics
