// SPDX-License-Identifier: Apache-2.0
// IEEE binary16.
#pragma once

#include "sim/numerics/float_format.h"

namespace lockstep::numerics {

inline constexpr uint16_t kFp16Nan = Fp16Format::kNan;

inline float fp16_to_fp32(uint16_t bits) {
    return decode<Fp16Format>(bits);
}
inline double fp16_to_fp64(uint16_t bits) {
    return decode<Fp16Format>(bits);
}

/// `saturate_finite`: overflow and infinity give +-65504.
inline uint16_t fp32_to_fp16(float value, Rounding rounding = Rounding::kNearestEven,
                             bool saturate_finite = false) {
    return static_cast<uint16_t>(encode<Fp16Format>(value, rounding, saturate_finite));
}
inline uint16_t fp64_to_fp16(double value, Rounding rounding = Rounding::kNearestEven,
                             bool saturate_finite = false) {
    return static_cast<uint16_t>(encode<Fp16Format>(value, rounding, saturate_finite));
}

}  // namespace lockstep::numerics
