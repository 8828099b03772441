// SPDX-License-Identifier: Apache-2.0
// TensorFloat-32: an fp32 of which only the upper 19 bits count (8 exponent, 10 mantissa bits).
// It is kept in a 32-bit register with the lower 13 bits zero.
#pragma once

#include "sim/numerics/float_format.h"

namespace lockstep::numerics {

/// What a Tensor Core reads of a register that holds a tf32 operand.
inline float tf32_operand(uint32_t bits) {
    return std::bit_cast<float>(bits & 0xffffe000u);
}

inline uint32_t fp32_to_tf32(float value, Rounding rounding, bool saturate_finite = false) {
    return encode<Tf32Format>(value, rounding, saturate_finite) << 13;
}

/// cvt.rna.tf32.f32: nearest, ties away from zero. NaN gives the canonical tf32 NaN.
inline uint32_t fp32_to_tf32_ties_away(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t rounded = (magnitude >= 0x7f800000u ? bits : bits + 0x1000u) & 0xffffe000u;
    return magnitude > 0x7f800000u ? Tf32Format::kNan << 13 : rounded;
}

}  // namespace lockstep::numerics
