// SPDX-License-Identifier: Apache-2.0
// Roundings against exact arithmetic; fixed-point functions against the C library's.
#include "sim/numerics/fixed_point.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace lockstep::numerics {
namespace {

/// value / 2^shift to nearest with a rule for ties, by division.
std::int64_t nearest(std::int64_t value, std::int32_t shift, IntegerRounding rounding) {
    const auto unit = static_cast<__int128>(1) << shift;
    __int128 down = value / unit, rest = value % unit;
    if (rest < 0) rest += unit, --down;
    if (2 * rest != unit) return static_cast<std::int64_t>(down + (2 * rest > unit ? 1 : 0));
    const bool up = rounding == IntegerRounding::kUp     ? true
                    : rounding == IntegerRounding::kEven ? down % 2 != 0
                                                         : value > 0;
    return static_cast<std::int64_t>(down + (up ? 1 : 0));
}

RC_GTEST_PROP(IntegerRounding, ShiftsAreNearestWithTheirTies, ()) {
    const auto shift = *rc::gen::inRange(1, 40);
    // Many ties among them.
    const std::int64_t value =
        (*rc::gen::inRange<std::int64_t>(-1000, 1000) * (std::int64_t{1} << shift)) +
        *rc::gen::element<std::int64_t>(0, 1, -1, 5) +
        *rc::gen::element<std::int64_t>(0, 1) * (std::int64_t{1} << (shift - 1));
    for (const IntegerRounding rounding :
         {IntegerRounding::kUp, IntegerRounding::kAway, IntegerRounding::kEven})
        RC_ASSERT(shift_right(value, shift, rounding) == nearest(value, shift, rounding));
}

TEST(IntegerRounding, TensorFlowLiteRoundsTwice) {
    const FixedPointScale half = fixed_point_scale(0.5);
    // 1.5 and -1.5: the high product has its ties upward.
    EXPECT_EQ(multiply(3, half, IntegerRounding::kDouble), 2);
    EXPECT_EQ(multiply(-3, half, IntegerRounding::kDouble), -1);
    EXPECT_EQ(multiply(-3, half, IntegerRounding::kAway), -2);
    EXPECT_EQ(multiply(-3, half, IntegerRounding::kUp), -1);
    EXPECT_EQ(multiply(5, half, IntegerRounding::kEven), 2);
    EXPECT_EQ(multiply(5, half, IntegerRounding::kAway), 3);
    // 1.4999...: the first rounding makes a tie of it.
    EXPECT_EQ(multiply(3, {INT32_MAX, 32}, IntegerRounding::kDouble), 2);
    EXPECT_EQ(multiply(3, {INT32_MAX, 32}, IntegerRounding::kAway), 1);
    EXPECT_EQ(multiply(-3, {INT32_MAX, 32}, IntegerRounding::kDouble), -2);
}

TEST(FixedPoint, ExponentialIsNearTheLibrarys) {
    for (const std::int32_t integer_bits : {4, 5})
        for (double x = 0; x > -15; x -= 0.0137) {
            const auto raw = static_cast<std::int32_t>(std::ldexp(x, 31 - integer_bits));
            const double wanted = std::exp(std::ldexp(raw, integer_bits - 31));
            EXPECT_NEAR(std::ldexp(exp_of_negative(raw, integer_bits), -31), wanted, 3e-7) << x;
        }
}

TEST(FixedPoint, ReciprocalAndLogisticAreNearTheLibrarys) {
    for (double x = 0; x < 1; x += 0.00937)
        EXPECT_NEAR(std::ldexp(one_over_one_plus(static_cast<std::int32_t>(x * 0x1p31)), -31),
                    1 / (1 + x), 1e-8);
    for (double x = -15; x < 15; x += 0.0731)
        EXPECT_NEAR(std::ldexp(logistic(static_cast<std::int32_t>(x * 0x1p27)), -31),
                    1 / (1 + std::exp(-x)), 4e-7)
            << x;
}

RC_GTEST_PROP(FixedPoint, SoftmaxIsWithinAStepOfTheLibrarys, ()) {
    const auto row =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-128, 128)));
    const double scale = *rc::gen::element(0.003, 0.05, 0.3, 1.0);
    std::vector<std::int8_t> x(row.begin(), row.end()), y(x.size());
    softmax_row<std::int8_t>(x, y, softmax_scale(scale));
    const double most = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (const std::int8_t value : x) sum += std::exp(scale * (value - most));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double wanted = std::min(127.0, 256 * std::exp(scale * (x[i] - most)) / sum - 128);
        RC_ASSERT(std::abs(y[i] - wanted) <= 1);
    }
}

/// Two by hand: m1 = 0.5, m2 = 0.5; both scales 0.1, result 0.2: (10 + 20) / 2.
TEST(FixedPoint, AdditionScalesToTheResult) {
    const AdditionScales scales = addition_scales(0.1, 0.1, 0.2);
    EXPECT_EQ(add(10, 20, false, scales, IntegerRounding::kDouble), 15);
    EXPECT_EQ(add(10, 20, true, scales, IntegerRounding::kDouble), -5);
    EXPECT_EQ(add(1, 2, false, scales, IntegerRounding::kDouble), 2);  // 1.5
    EXPECT_EQ(add(-1, -2, false, scales, IntegerRounding::kAway), -2);
}

TEST(FixedPoint, MeanDividesInItsMultiplier) {
    for (const std::int64_t count : {1, 2, 9, 49, 196, 1000})
        for (const double ratio : {0.4, 1.0, 2.5})
            for (const std::int32_t sum : {0, 5, -77, 12345, -100000}) {
                const double wanted = sum * ratio / static_cast<double>(count);
                const auto mean = [&](IntegerRounding rounding) {
                    return static_cast<double>(multiply(sum, mean_scale(ratio, count), rounding));
                };
                EXPECT_NEAR(mean(IntegerRounding::kAway), wanted, 0.501) << count << " " << ratio;
                EXPECT_NEAR(mean(IntegerRounding::kDouble), wanted, 0.751) << count << " " << ratio;
            }
}

}  // namespace
}  // namespace lockstep::numerics
