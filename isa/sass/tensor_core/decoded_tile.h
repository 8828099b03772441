// SPDX-License-Identifier: Apache-2.0
// A tile of a Tensor Core's operand, each number split into significand and exponent once, so that
// every product it takes part in costs no more than an addition and a multiplication.
#pragma once

#include <cstdint>

#include "isa/sass/tensor_core/narrow_product.h"
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
/// Most tiles need no more than values and small exponents (narrow_product.h); those of the general
/// way are made when they are asked for.
class DecodedTile {
  public:
    static constexpr int kCapacity = 1024;

    alignas(64) uint32_t bits[kCapacity];  ///< in: the encoded numbers, one a word
    TensorType type;

    /// Splits the first `count` numbers; `count` is a multiple of 16. Upper bits that the type does
    /// not have are ignored; a tf32 is read from an fp32 register, of which it ignores the lower
    /// bits.
    void decode(TensorType from, int count);

    /// The fast way takes it, by these values.
    bool is_narrow() const { return is_narrow_; }
    NarrowOperand narrow() const { return {value_, small_exponent_}; }

    struct Split {
        alignas(64) float significand[kCapacity];  ///< the value itself where keeps_values(type)
        alignas(64) int32_t exponent[kCapacity];
        bool special;  ///< some is infinity or NaN: its significand and exponent mean nothing
    };
    const Split& split() const;

  private:
    alignas(64) float value_[kCapacity];
    alignas(64) int8_t small_exponent_[kCapacity];
    mutable Split split_;
    mutable bool is_split_;
    bool is_narrow_;
    int count_;
};

/// The same for one column of 16 accumulators, fp32 or (in the lower half of each word) fp16.
struct DecodedColumn {
    alignas(64) float significand[16];
    alignas(64) int32_t exponent[16];
    bool special;

    void decode(bool half, const uint32_t* bits);
};

}  // namespace lockstep::sass
