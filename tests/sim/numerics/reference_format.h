// SPDX-License-Identifier: Apache-2.0
// A slow reference for small floating-point formats that shares nothing with the product: it lists
// every number of a format by the definition and rounds by search among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/numerics/rounding.h"

namespace lockstep::numerics {

struct ReferenceFormat {
    int exponent_bits;
    int mantissa_bits;
    bool has_infinity;
    bool has_nan;
    std::vector<double> magnitudes = {};  // finite ones, by code, ascending

    ReferenceFormat(int e, int m, bool infinity, bool nan)
        : exponent_bits(e), mantissa_bits(m), has_infinity(infinity), has_nan(nan) {
        const int bias = (1 << (e - 1)) - 1;
        const uint32_t codes = 1u << (e + m);
        const uint32_t infinity_code = codes - (1u << m);
        const uint32_t finite = infinity ? infinity_code : (nan ? codes - 1 : codes);
        for (uint32_t code = 0; code < finite; ++code) {
            const int exponent = static_cast<int>(code >> m);
            const double fraction = std::ldexp(code & ((1u << m) - 1), -m);
            magnitudes.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                               : std::ldexp(1 + fraction, exponent - bias));
        }
    }

    uint32_t max_finite() const { return static_cast<uint32_t>(magnitudes.size()) - 1; }
    uint32_t all_ones() const { return (1u << (exponent_bits + mantissa_bits)) - 1; }
    uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }

    /// The code of `value`, an exact double.
    uint32_t round(double value, Rounding rounding, bool saturate) const {
        if (std::isnan(value)) return all_ones();
        const bool negative = std::signbit(value);
        const double magnitude = std::fabs(value);
        const uint32_t sign_bit = negative ? sign() : 0;
        const uint32_t above =
            saturate ? max_finite() : (has_infinity ? max_finite() + 1 : all_ones());
        if (std::isinf(value)) return sign_bit | above;
        const auto next = std::upper_bound(magnitudes.begin(), magnitudes.end(), magnitude);
        const uint32_t low = static_cast<uint32_t>(next - magnitudes.begin()) - 1;
        const bool exact = magnitudes[low] == magnitude;
        const uint32_t high = next == magnitudes.end() ? above : low + 1;
        if (exact) return sign_bit | low;
        switch (rounding) {
            case Rounding::kTowardZero:
                return sign_bit | low;
            case Rounding::kDown:
                return sign_bit | (negative ? high : low);
            case Rounding::kUp:
                return sign_bit | (negative ? low : high);
            case Rounding::kNearestEven:
                break;
        }
        // Overflow counts from half a step past the largest number, as if the next one existed.
        const double step = low == max_finite() ? magnitudes[low] - magnitudes[low - 1]
                                                : magnitudes[low + 1] - magnitudes[low];
        const double middle = magnitudes[low] + step / 2;
        const bool up = magnitude == middle ? (low & 1) != 0 : magnitude > middle;
        return sign_bit | (up ? high : low);
    }
};

}  // namespace lockstep::numerics
