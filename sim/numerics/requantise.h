// SPDX-License-Identifier: Apache-2.0
// From int32 sums back to int8: y = saturate(round(sum * scale) + zero_point), where scale is
// input scale * weight scale / output scale. Two ways of rounding:
// - fixed point, as TPUs and NPUs do it in integers: scale is a 31-bit multiplier and a shift,
//   one rounding, ties toward plus infinity (add half, shift right). Source: Jacob et al.,
//   "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
//   Inference" (2018), section 2.2, with the single rounding of TensorFlow Lite's
//   TFLITE_SINGLE_ROUNDING.
// - floating point, as ONNX's QLinearConv and QLinearMatMul: one FP32 product, ties to even.
// They differ by at most one step where |sum * scale| < 2^22. IntegerRounding has the other ways to
// round in fixed point.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lockstep::numerics {

/// multiplier * 2^-shift; the multiplier is 0 or in [2^30, 2^31), the shift in [1, 62].
struct FixedPointScale {
    int32_t multiplier = 0;
    int32_t shift = 1;
    bool operator==(const FixedPointScale&) const = default;
};

/// The nearest fixed-point scale of a scale in [0, 2^30); below 2^-32 it is 0.
inline FixedPointScale fixed_point_scale(double scale) {
    int exponent = 0;
    const double fraction = std::frexp(scale, &exponent);
    auto multiplier = static_cast<int64_t>(std::llround(fraction * 0x1p31));
    if (multiplier == int64_t{1} << 31) {
        multiplier /= 2;
        ++exponent;
    }
    if (multiplier == 0 || exponent < -31) return {};
    return {static_cast<int32_t>(multiplier), 31 - exponent};
}

/// Two scales with one shift, that of the larger, so that their products can be added before they
/// are rounded (an addition of int8 tensors of different scales).
struct FixedPointPair {
    int32_t first = 0, second = 0;
    int32_t shift = 1;
};
inline FixedPointPair fixed_point_pair(double first, double second) {
    const FixedPointScale larger = fixed_point_scale(std::max(std::abs(first), std::abs(second)));
    const auto multiplier = [&](double scale) {
        const double value = std::round(std::ldexp(scale, larger.shift));
        return static_cast<int32_t>(std::clamp(value, -0x1p31 + 1, 0x1p31 - 1));
    };
    return {multiplier(first), multiplier(second), larger.shift};
}

/// round(a * first + b * second), ties toward plus infinity; |a|, |b| < 2^24.
inline int64_t multiply(int32_t a, int32_t b, FixedPointPair scales) {
    const int64_t half = int64_t{1} << (scales.shift - 1);
    return (int64_t{a} * scales.first + int64_t{b} * scales.second + half) >> scales.shift;
}

/// round(sum * scale), ties toward plus infinity.
inline int64_t multiply(int32_t sum, FixedPointScale scale) {
    const int64_t half = int64_t{1} << (scale.shift - 1);
    return (int64_t{sum} * scale.multiplier + half) >> scale.shift;
}

/// What becomes of the bits that are shifted out.
enum class IntegerRounding : uint8_t {
    kUp,      ///< ties toward plus infinity
    kAway,    ///< ties away from zero
    kEven,    ///< ties to even
    kDouble,  ///< twice: multiply_high, then the shift with ties away from zero
};

/// value / 2^shift, rounded once; shift in [0, 62]. kDouble rounds as kAway.
inline int64_t shift_right(int64_t value, int32_t shift, IntegerRounding rounding) {
    if (shift == 0) return value;
    const int64_t half = int64_t{1} << (shift - 1), rest = value & ((half << 1) - 1);
    const int64_t down = value >> shift;
    switch (rounding) {
        case IntegerRounding::kUp:
            return down + (rest >= half ? 1 : 0);
        case IntegerRounding::kEven:
            return down + (rest > half || (rest == half && (down & 1) != 0) ? 1 : 0);
        case IntegerRounding::kAway:
        case IntegerRounding::kDouble:
            return down + (rest > half || (rest == half && value >= 0) ? 1 : 0);
    }
    return down;
}

/// The high half of 2ab, rounded: the product of two numbers with 31 bits behind the point.
/// gemmlowp's "saturating rounding doubling high multiplication" (Arm's SQRDMULH): ties toward plus
/// infinity.
inline int32_t multiply_high(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    const int64_t product = int64_t{a} * b;
    return static_cast<int32_t>((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) /
                                (int64_t{1} << 31));
}

/// round(sum * scale). kDouble is MultiplyByQuantizedMultiplier of TensorFlow Lite's reference
/// kernels.
inline int64_t multiply(int32_t sum, FixedPointScale scale, IntegerRounding rounding) {
    if (rounding != IntegerRounding::kDouble)
        return shift_right(int64_t{sum} * scale.multiplier, scale.shift, rounding);
    const int32_t left = std::max(31 - scale.shift, 0), right = std::max(scale.shift - 31, 0);
    const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(sum) << left);
    return shift_right(multiply_high(shifted, scale.multiplier), right, IntegerRounding::kAway);
}

/// An addition of two scaled values as TensorFlow Lite has it: each is brought to twice the larger
/// scale, with 20 bits behind the point, then the sum to the result's.
struct AdditionScales {
    static constexpr int32_t kBits = 20;
    FixedPointScale first, second, sum;
    bool operator==(const AdditionScales&) const = default;
};
inline AdditionScales addition_scales(double first, double second, double result) {
    const double twice = 2 * std::max(first, second);
    return {fixed_point_scale(first / twice), fixed_point_scale(second / twice),
            fixed_point_scale(twice / (std::ldexp(1.0, AdditionScales::kBits) * result))};
}
/// a + b (or a - b) in steps of the result; |a|, |b| <= 2^10.
inline int64_t add(int32_t a, int32_t b, bool subtract, const AdditionScales& scales,
                   IntegerRounding rounding) {
    const int64_t x = multiply(a * (1 << AdditionScales::kBits), scales.first, rounding);
    const int64_t y = multiply(b * (1 << AdditionScales::kBits), scales.second, rounding);
    return multiply(static_cast<int32_t>(subtract ? x - y : x + y), scales.sum, rounding);
}

/// The mean of `count` values whose sum is given, in steps of the result. The division is folded
/// into the multiplier, as TensorFlow Lite's MEAN does it.
inline FixedPointScale mean_scale(double scale, int64_t count) {
    const FixedPointScale whole = fixed_point_scale(scale);
    const int32_t up = std::min(63 - __builtin_clzll(static_cast<uint64_t>(count)),
                                std::min(32, 62 - whole.shift));
    if (up < 0) return {};
    return {static_cast<int32_t>((int64_t{whole.multiplier} << up) / count), whole.shift + up};
}

/// Limits of the result: of its type, or narrower where an activation clips it.
struct IntegerRange {
    int32_t low = INT8_MIN, high = INT8_MAX;
};

inline int32_t saturate(int64_t value, IntegerRange range = {}) {
    return static_cast<int32_t>(std::clamp<int64_t>(value, range.low, range.high));
}

inline int32_t requantise(int32_t sum, FixedPointScale scale, int32_t zero_point,
                          IntegerRange range = {}) {
    return saturate(multiply(sum, scale) + zero_point, range);
}

/// The same as ONNX has it.
inline int32_t requantise_in_fp32(int32_t sum, float scale, int32_t zero_point,
                                  IntegerRange range = {}) {
    // Clipped first, so that the conversion cannot overflow; bounds are small and exact.
    const float scaled =
        std::clamp(static_cast<float>(sum) * scale, static_cast<float>(range.low - zero_point),
                   static_cast<float>(range.high - zero_point));
    return static_cast<int32_t>(std::nearbyint(scaled)) + zero_point;
}

}  // namespace lockstep::numerics
