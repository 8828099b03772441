// SPDX-License-Identifier: Apache-2.0
// The 8-bit floating-point formats of OCP FP8: e4m3 (no infinity, NaN is S.1111.111, largest 448)
// and e5m2 (IEEE-like, largest 57344). Source: OCP 8-bit Floating Point Specification 1.0.
#pragma once

#include "sim/numerics/float_format.h"

namespace lockstep::numerics {

inline float e4m3_to_fp32(uint8_t bits) {
    return decode<E4m3Format>(bits);
}
inline float e5m2_to_fp32(uint8_t bits) {
    return decode<E5m2Format>(bits);
}

/// With `saturate_finite` (.SATFINITE) too large magnitudes, infinity included, give +-448;
/// without, NaN with the sign of the value. A NaN gives 0x7f.
inline uint8_t fp32_to_e4m3(float value, bool saturate_finite,
                            Rounding rounding = Rounding::kNearestEven) {
    return static_cast<uint8_t>(encode<E4m3Format>(value, rounding, saturate_finite));
}
inline uint8_t fp64_to_e4m3(double value, bool saturate_finite,
                            Rounding rounding = Rounding::kNearestEven) {
    return static_cast<uint8_t>(encode<E4m3Format>(value, rounding, saturate_finite));
}

/// With `saturate_finite` too large magnitudes, infinity included, give +-57344; without, infinity.
inline uint8_t fp32_to_e5m2(float value, bool saturate_finite,
                            Rounding rounding = Rounding::kNearestEven) {
    return static_cast<uint8_t>(encode<E5m2Format>(value, rounding, saturate_finite));
}
inline uint8_t fp64_to_e5m2(double value, bool saturate_finite,
                            Rounding rounding = Rounding::kNearestEven) {
    return static_cast<uint8_t>(encode<E5m2Format>(value, rounding, saturate_finite));
}

}  // namespace lockstep::numerics
