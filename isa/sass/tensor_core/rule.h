// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a Tensor Core's dot product, as parameters: which differ between generations.
#pragma once

#include <cstdint>

namespace lockstep::sass {

/// What the multiplied operands are. All are exact in 11 significant bits.
enum class TensorType : uint8_t { kFp16, kBf16, kTf32, kE4m3, kE5m2 };

/// What is accumulated, and how a group's exact sum becomes it.
enum class AccumulatorType : uint8_t {
    kFp32,   ///< truncated to 24 significant bits, subnormals kept, overflow to infinity
    kFp16,   ///< rounded to nearest even; what becomes zero is +0
    kE8m13,  ///< an fp32 register, truncated to 14 significant bits (fp8 of sm_89 and sm_90)
};

/// One dot-product-accumulate: d = c + the sum of `group` products, of which each term is truncated
/// to `fraction_bits` below the largest term's exponent before the exact sum. Longer dot products
/// are chains of groups, low k first, each accumulating on the one before.
struct DotProductRule {
    int group;
    int fraction_bits;
    int min_exponent;  ///< the largest term's exponent never counts as less than this
    AccumulatorType accumulator;
};

/// The rule of architecture `sm` (70, 75, 80, 86, 87, 89, 90) for operands of `type` that
/// accumulate in fp32 or, with `half`, in fp16. Throws InternalError where the generation has no
/// such unit.
DotProductRule dot_product_rule(int sm, TensorType type, bool half);

}  // namespace lockstep::sass
