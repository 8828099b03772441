// SPDX-License-Identifier: Apache-2.0
// bfloat16: the upper half of an fp32.
#pragma once

#include "sim/numerics/float_format.h"

namespace lockstep::numerics {

inline constexpr uint16_t kBf16Nan = Bf16Format::kNan;

/// Exact, bit for bit: NaNs keep their payload, signalling ones too.
inline float bf16_to_fp32(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
inline double bf16_to_fp64(uint16_t bits) {
    return bf16_to_fp32(bits);
}

inline uint16_t fp32_to_bf16(float value, Rounding rounding = Rounding::kNearestEven,
                             bool saturate_finite = false) {
    return static_cast<uint16_t>(encode<Bf16Format>(value, rounding, saturate_finite));
}
inline uint16_t fp64_to_bf16(double value, Rounding rounding = Rounding::kNearestEven,
                             bool saturate_finite = false) {
    return static_cast<uint16_t>(encode<Bf16Format>(value, rounding, saturate_finite));
}

}  // namespace lockstep::numerics
