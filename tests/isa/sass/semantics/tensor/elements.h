// SPDX-License-Identifier: Apache-2.0
// Numbers of the Tensor Core's floating-point types, from and to their encodings.
#pragma once

#include <bit>
#include <cstdint>

#include "isa/sass/tensor_core/rule.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp8.h"
#include "sim/numerics/tf32.h"

namespace lockstep::sass {

inline unsigned width_of(TensorType type) {
    if (type == TensorType::kTf32) return 32;
    return type == TensorType::kFp16 || type == TensorType::kBf16 ? 16 : 8;
}

inline float value_of(TensorType type, std::uint32_t bits) {
    switch (type) {
        case TensorType::kFp16:
            return numerics::fp16_to_fp32(static_cast<std::uint16_t>(bits));
        case TensorType::kBf16:
            return numerics::bf16_to_fp32(static_cast<std::uint16_t>(bits));
        case TensorType::kTf32:
            return numerics::tf32_operand(bits);
        case TensorType::kE4m3:
            return numerics::e4m3_to_fp32(static_cast<std::uint8_t>(bits));
        case TensorType::kE5m2:
            return numerics::e5m2_to_fp32(static_cast<std::uint8_t>(bits));
    }
    return 0;
}

inline std::uint32_t encode(TensorType type, float value) {
    switch (type) {
        case TensorType::kFp16:
            return numerics::fp32_to_fp16(value);
        case TensorType::kBf16:
            return numerics::fp32_to_bf16(value);
        case TensorType::kTf32:
            return std::bit_cast<std::uint32_t>(value);
        case TensorType::kE4m3:
            return numerics::fp32_to_e4m3(value, true);
        case TensorType::kE5m2:
            return numerics::fp32_to_e5m2(value, true);
    }
    return 0;
}

}  // namespace lockstep::sass
