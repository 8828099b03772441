// SPDX-License-Identifier: Apache-2.0
// Numbers as integers: significand * 2^exponent, as the wires of a dot-product unit carry them.
#pragma once

#include <cstdint>

#include "isa/sass/tensor_core/rule.h"

namespace lockstep::gpu {

struct NumberFormat {
    int exponent_bits, fraction_bits;
    int dropped_bits = 0;  ///< below the fraction, ignored (tf32 in an fp32 register)
};

inline constexpr NumberFormat kFp32Number{8, 23}, kFp16Number{5, 10};

inline NumberFormat format_of(sass::TensorType type) {
    if (type == sass::TensorType::kFp16) return kFp16Number;
    return type == sass::TensorType::kBf16 ? NumberFormat{8, 7} : NumberFormat{8, 10, 13};
}

/// What aligns nothing: a zero's exponent.
inline constexpr int kExponentOfZero = -4096;

struct SplitNumber {
    /// With the sign, and `fraction_bits` behind the point: in [1, 2) or, of subnormals, less.
    std::int64_t significand = 0;
    int exponent = kExponentOfZero;
    bool is_finite = true;
};

inline SplitNumber split(NumberFormat format, std::uint32_t bits) {
    bits >>= format.dropped_bits;
    const std::uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
    const std::uint32_t ones = (1u << format.exponent_bits) - 1;
    const std::uint32_t biased = bits >> format.fraction_bits & ones;
    const bool is_negative = (bits >> (format.fraction_bits + format.exponent_bits) & 1) != 0;
    SplitNumber number;
    number.is_finite = biased != ones;
    if (biased == 0 && fraction == 0) return number;
    number.significand = fraction;
    if (biased != 0) number.significand |= std::int64_t{1} << format.fraction_bits;
    if (is_negative) number.significand = -number.significand;
    const int bias = static_cast<int>(ones >> 1);
    number.exponent = static_cast<int>(biased != 0 ? biased : 1) - bias;
    return number;
}

/// significand * 2^shift, truncated toward zero.
inline std::int64_t shift_and_truncate(std::int64_t significand, int shift) {
    if (shift >= 0) return significand << shift;
    if (shift <= -63) return 0;
    return significand < 0 ? -(-significand >> -shift) : significand >> -shift;
}

}  // namespace lockstep::gpu
