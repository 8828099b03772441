// SPDX-License-Identifier: Apache-2.0
// The fast way to a tile of results: operands whose exponents fit a byte with room to spare, as
// most have, on hosts with AVX-512. The largest exponents of 16 rows and four products are found in
// one vector of bytes; the exact product in fp32, times the power of two that makes the last bit
// kept one, becomes an integer by truncation.
#pragma once

#include <cstdint>

#include "isa/sass/tensor_core/rule.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LOCKSTEP_NARROW_PRODUCT 1
#endif

namespace lockstep::sass {

/// Exponents of a number that the fast way takes. Products are numbers of fp32 then, and the sum of
/// two exponents is a byte.
inline constexpr int kNarrowLargest = 30, kNarrowSmallest = -64;
/// The byte of a zero. With another number it comes to no more than this, where sums are not told
/// from those of the smallest numbers.
inline constexpr int kNarrowZero = -128, kNarrowUnsure = kNarrowZero + kNarrowLargest;

/// Splits `count` numbers (a multiple of 16) of `type` into values and exponents. False where one
/// is not narrow: then they mean nothing.
bool decode_narrow(TensorType type, int count, const std::uint32_t* bits, float* value,
                   std::int8_t* exponent);

/// Values and exponents of a tile of A, [k][16 rows], or of B, [column][k].
struct NarrowOperand {
    const float* value;
    const std::int8_t* exponent;
};

/// c[column][row] += the sum over k < depth, k from a multiple of the rule's group on, in chains of
/// groups. What this way does not reach (infinities and NaNs, sums beyond fp32) is left to
/// `otherwise`, called for one column and one group, first k given.
using NarrowFallback = void (*)(void* context, int column, int first);
void accumulate_narrow(const DotProductRule& rule, int width, int depth, int columns,
                       const NarrowOperand& a, const NarrowOperand& b, std::uint32_t (*c)[16],
                       NarrowFallback otherwise, void* context);

}  // namespace lockstep::sass
