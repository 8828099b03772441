// SPDX-License-Identifier: Apache-2.0
// Integers of 8, 4 and 2 bits packed into 32-bit words, element 0 in the lowest bits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lockstep::numerics {

/// Element `index` of a word of `bits`-bit integers, sign- or zero-extended.
template <int bits>
inline int32_t unpack_signed(uint32_t word, int index) {
    static_assert(bits == 8 || bits == 4 || bits == 2);
    return static_cast<int32_t>(word << (32 - bits - index * bits)) >> (32 - bits);
}
template <int bits>
inline int32_t unpack_unsigned(uint32_t word, int index) {
    static_assert(bits == 8 || bits == 4 || bits == 2);
    return static_cast<int32_t>((word >> (index * bits)) & ((1u << bits) - 1));
}

/// `word` with element `index` replaced by the low bits of `value`.
template <int bits>
inline uint32_t pack(uint32_t word, int index, int32_t value) {
    static_assert(bits == 8 || bits == 4 || bits == 2);
    constexpr uint32_t kMask = (1u << bits) - 1;
    const int shift = index * bits;
    return (word & ~(kMask << shift)) | ((static_cast<uint32_t>(value) & kMask) << shift);
}

/// Clamps to the range of a `bits`-bit integer (.SAT).
template <int bits>
inline int32_t saturate_signed(int32_t value) {
    return std::clamp(value, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);
}
template <int bits>
inline int32_t saturate_unsigned(int32_t value) {
    return std::clamp(value, 0, (1 << bits) - 1);
}

}  // namespace lockstep::numerics
