// SPDX-License-Identifier: Apache-2.0
// The formats of OCP Microscaling: fp6 (e2m3, largest 7.5; e3m2, largest 28), fp4 (e2m1, largest 6)
// and the block scale e8m0 (a power of two; 0xff is NaN). fp6 and fp4 have neither infinity nor
// NaN, so conversion saturates and a NaN gives the largest positive number, as PTX defines cvt.
// Source: OCP Microscaling Formats (MX) Specification 1.0; PTX ISA, cvt.
#pragma once

#include "sim/numerics/float_format.h"

namespace lockstep::numerics {

inline float e2m3_to_fp32(uint8_t bits) {
    return decode<E2m3Format>(bits);
}
inline float e3m2_to_fp32(uint8_t bits) {
    return decode<E3m2Format>(bits);
}
inline float e2m1_to_fp32(uint8_t bits) {
    return decode<E2m1Format>(bits);
}

inline uint8_t fp32_to_e2m3(float value, Rounding rounding = Rounding::kNearestEven) {
    return static_cast<uint8_t>(encode<E2m3Format>(value, rounding, true));
}
inline uint8_t fp32_to_e3m2(float value, Rounding rounding = Rounding::kNearestEven) {
    return static_cast<uint8_t>(encode<E3m2Format>(value, rounding, true));
}
inline uint8_t fp32_to_e2m1(float value, Rounding rounding = Rounding::kNearestEven) {
    return static_cast<uint8_t>(encode<E2m1Format>(value, rounding, true));
}

/// 2^(bits - 127), exact: the smallest is an fp32 subnormal.
inline float e8m0_to_fp32(uint8_t bits) {
    const uint32_t power = bits == 0 ? 0x00400000u : static_cast<uint32_t>(bits) << 23;
    return std::bit_cast<float>(bits == 0xff ? 0x7fffffffu : power);
}

/// The power of two next to |value| upward (kUp) or toward zero (any other mode), clamped to
/// [2^-127, 2^127]; NaN gives NaN (0xff). The sign is ignored: the format has none.
inline uint8_t fp32_to_e8m0(float value, Rounding rounding) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffffu;
    // A subnormal lies above 2^-127 exactly when its leading mantissa bit is set and more follows.
    const uint32_t floor = magnitude >> 23;
    const bool subnormal = floor == 0;
    const bool inexact = subnormal ? magnitude > 0x00400000u : (magnitude & 0x7fffffu) != 0;
    const uint32_t power = floor + (rounding == Rounding::kUp && inexact ? 1u : 0u);
    return static_cast<uint8_t>(magnitude > 0x7f800000u ? 0xffu : std::min(power, 254u));
}

}  // namespace lockstep::numerics
