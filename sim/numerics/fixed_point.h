// SPDX-License-Identifier: Apache-2.0
// Exponential, reciprocal, logistic and softmax of fixed-point numbers in 32 bits, to the bit as
// TensorFlow Lite's reference kernels compute them. Qm.n: a raw int32 with n = 31 - m bits behind
// the point. Source: gemmlowp's fixedpoint.h (the formulas and the constants), TensorFlow Lite's
// reference_ops softmax and logistic.
#pragma once

#include <bit>
#include <span>

#include "sim/numerics/requantise.h"

namespace lockstep::numerics {

/// x * 2^exponent, saturated; to the right rounded, ties away from zero.
inline int32_t scale_by_power(int32_t x, int32_t exponent) {
    if (exponent < 0)
        return static_cast<int32_t>(shift_right(x, -exponent, IntegerRounding::kAway));
    return saturate(int64_t{x} << exponent, {INT32_MIN, INT32_MAX});
}

/// e^a in Q0.31 of a <= 0 with `integer_bits` (4 or 5) before the point.
inline int32_t exp_of_negative(int32_t a, int32_t integer_bits) {
    if (a == 0) return INT32_MAX;
    const int32_t fraction_bits = 31 - integer_bits, quarter = 1 << (fraction_bits - 2);
    const int32_t rest = (a & (quarter - 1)) - quarter;  // in [-1/4, 0)
    // The Taylor series about -1/8.
    constexpr int32_t kExpOfMinusEighth = 1895147668, kThird = 715827883;
    const int32_t x = scale_by_power(rest, integer_bits) + (1 << 28);
    const int32_t x2 = multiply_high(x, x), x3 = multiply_high(x2, x), x4 = multiply_high(x2, x2);
    const int32_t higher =
        scale_by_power(multiply_high(scale_by_power(x4, -2) + x3, kThird) + x2, -1);
    int32_t result = kExpOfMinusEighth + multiply_high(kExpOfMinusEighth, x + higher);
    // e^-(1/4), e^-(1/2), e^-1, ... for each bit of what is left.
    constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242};
    const int32_t remainder = rest - a;
    for (int32_t exponent = -2; exponent < integer_bits; ++exponent)
        if ((remainder & (1 << (fraction_bits + exponent))) != 0)
            result = multiply_high(result, kFactors[exponent + 2]);
    return result;
}

/// 1 / (1 + a) of a in [0, 1), both Q0.31, by three steps of Newton's method.
inline int32_t one_over_one_plus(int32_t a) {
    const auto half = static_cast<int32_t>((int64_t{a} + INT32_MAX + 1) / 2);  // (1 + a) / 2
    int32_t x = 1515870810 + multiply_high(half, -1010580540);  // 48/17 - 32/17 half, Q2.29
    for (int step = 0; step < 3; ++step) {
        const int32_t rest = (1 << 29) - multiply_high(half, x);
        x += scale_by_power(multiply_high(x, rest), 2);
    }
    return scale_by_power(x, 1);
}

/// 1 / (1 + e^-a) in Q0.31 of a in Q4.27.
inline int32_t logistic(int32_t a) {
    if (a == 0) return 1 << 30;
    const int32_t of_magnitude = one_over_one_plus(exp_of_negative(a > 0 ? -a : a, 4));
    return a > 0 ? of_magnitude : INT32_MAX - of_magnitude;
}

/// How a softmax takes differences of stored values into Q5.26. Differences below `least` count
/// nothing.
struct SoftmaxScale {
    int32_t multiplier = 0, left_shift = 0, least = 0;
    bool operator==(const SoftmaxScale&) const = default;
};

/// The largest difference, in stored steps, that `integer_bits` hold after the shift.
inline int32_t input_radius(int32_t integer_bits, int32_t left_shift) {
    return static_cast<int32_t>(
        std::floor(std::ldexp((1 << integer_bits) - 1, 31 - integer_bits - left_shift)));
}

/// `scale`: of the input, times beta. Steps below 2^-26 are as one of that.
inline SoftmaxScale softmax_scale(double scale) {
    const double steps = std::clamp(std::ldexp(scale, 26), 1.0, 0x1p31 - 1);
    const FixedPointScale fixed = fixed_point_scale(steps);
    const int32_t left = 31 - fixed.shift;
    return {fixed.multiplier, left, -input_radius(5, left)};
}

/// Softmax of a row of stored values: of steps of 1/256 from -128 on.
template <class Stored>
void softmax_row(std::span<const Stored> x, std::span<Stored> y, const SoftmaxScale& scale) {
    if (x.empty()) return;
    const int32_t most = *std::max_element(x.begin(), x.end());
    const auto exponential = [&](int32_t difference) {
        const auto shifted =
            static_cast<int32_t>(static_cast<uint32_t>(difference) << scale.left_shift);
        return exp_of_negative(multiply_high(shifted, scale.multiplier), 5);
    };
    uint32_t sum = 0;  // Q12.19
    for (const Stored value : x)
        if (value - most >= scale.least)
            sum += static_cast<uint32_t>(
                shift_right(exponential(value - most), 12, IntegerRounding::kAway));
    const int32_t headroom = std::countl_zero(sum);
    const uint32_t normal = headroom == 32 ? 0 : sum << headroom;
    const int32_t reciprocal = one_over_one_plus(static_cast<int32_t>(normal - (1u << 31)));
    const int32_t shift = 12 - headroom + 31 - 8;
    for (size_t i = 0; i < x.size(); ++i) {
        const int32_t difference = x[i] - most;
        int64_t value = -128;
        if (difference >= scale.least)
            value += shift_right(multiply_high(reciprocal, exponential(difference)), shift,
                                 IntegerRounding::kAway);
        y[i] = static_cast<Stored>(saturate(value));
    }
}

}  // namespace lockstep::numerics
