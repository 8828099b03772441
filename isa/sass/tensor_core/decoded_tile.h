// SPDX-License-Identifier: Apache-2.0
// A tile of a Tensor Core's operand, each number split into significand and exponent once, so that
// every product it takes part in costs no more than an addition and a multiplication.
#pragma once

#include <cstdint>

#include "isa/sass/tensor_core/rule.h"

namespace lockstep::sass {

/// Types whose products, and those times any power of two that aligns them to a last bit, fp32
/// holds: of these a tile keeps values beside the exponents.
constexpr bool keeps_values(TensorType type) {
    return type == TensorType::kFp16 || type == TensorType::kE4m3 || type == TensorType::kE5m2;
}

/// The exponent of a zero: below all others, so that it neither aligns nor adds to a sum.
inline constexpr int32_t kZeroExponent = -4096;

/// Numbers as significand * 2^exponent. A normal number's |significand| is in [1, 2); a subnormal's
/// is less, at its format's smallest exponent, which is how the hardware aligns it.
struct DecodedTile {
    static constexpr int kCapacity = 1024;

    alignas(64) uint32_t bits[kCapacity];      ///< in: the encoded numbers, one a word
    alignas(64) float significand[kCapacity];  ///< the value itself where keeps_values(type)
    alignas(64) int32_t exponent[kCapacity];
    TensorType type;
    bool special;  ///< some number is infinity or NaN; its significand and exponent mean nothing

    /// Splits the first `count` numbers; `count` is a multiple of 16. Upper bits that the type does
    /// not have are ignored; a tf32 is read from an fp32 register, of which it ignores the lower
    /// bits.
    void decode(TensorType from, int count);
};

/// The same for one column of 16 accumulators, fp32 or (in the lower half of each word) fp16.
struct DecodedColumn {
    alignas(64) float significand[16];
    alignas(64) int32_t exponent[16];
    bool special;

    void decode(bool half, const uint32_t* bits);
};

}  // namespace lockstep::sass
