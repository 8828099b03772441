// SPDX-License-Identifier: Apache-2.0
// From int32 sums back to int8: y = saturate(round(sum * scale) + zero_point), where scale is
// input scale * weight scale / output scale. Two ways of rounding:
// - fixed point, as TPUs and NPUs do it in integers: scale is a 31-bit multiplier and a shift,
//   one rounding, ties toward plus infinity (add half, shift right). Source: Jacob et al.,
//   "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
//   Inference" (2018), section 2.2, with the single rounding of TensorFlow Lite's
//   TFLITE_SINGLE_ROUNDING.
// - floating point, as ONNX's QLinearConv and QLinearMatMul: one FP32 product, ties to even.
// They differ by at most one step where |sum * scale| < 2^22.
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
