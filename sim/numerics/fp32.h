// SPDX-License-Identifier: Apache-2.0
// Narrowing fp64 to fp32 in a named rounding mode.
#pragma once

#include "sim/numerics/float_format.h"

namespace lockstep::numerics {

inline constexpr uint32_t kFp32Nan = Fp32Format::kNan;

inline float fp64_to_fp32(double value, Rounding rounding) {
    return std::bit_cast<float>(encode<Fp32Format>(value, rounding));
}

}  // namespace lockstep::numerics
