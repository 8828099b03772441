// SPDX-License-Identifier: Apache-2.0
// Small binary floating-point formats and the exact conversion between them and fp32/fp64. One
// template serves every format; it is integer code without branches, so lane loops vectorise.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "sim/numerics/rounding.h"

namespace lockstep::numerics {

/// What the largest codes of a format mean.
enum class Specials {
    kIeee,     ///< the largest exponent holds infinity and NaNs
    kNanOnly,  ///< only the all-ones magnitude is special, a NaN (e4m3)
    kNone,     ///< every code is a finite number (fp6, fp4)
};

/// A sign, `exponent_bits` with the IEEE bias, `mantissa_bits`; at most 32 bits.
template <int exponent_bits, int mantissa_bits, Specials specials = Specials::kIeee>
struct FloatFormat {
    static constexpr int kExponentBits = exponent_bits;
    static constexpr int kMantissaBits = mantissa_bits;
    static constexpr Specials kSpecials = specials;
    static constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
    static constexpr uint32_t kSign = 1u << (exponent_bits + mantissa_bits);
    static constexpr uint32_t kMagnitude = kSign - 1;
    /// The magnitude of infinity; one past the largest finite magnitude where there is none.
    static constexpr uint32_t kInfinity =
        specials == Specials::kIeee
            ? ((1u << exponent_bits) - 1) << mantissa_bits
            : (specials == Specials::kNanOnly ? kMagnitude : kMagnitude + 1);
    static constexpr uint32_t kMaxFinite = kInfinity - 1;
    /// The NaN a GPU produces: all ones, positive. A format without NaN gives its largest number.
    static constexpr uint32_t kNan = kMagnitude;
    /// What a magnitude too large to represent becomes when nothing saturates.
    static constexpr uint32_t kOverflow = specials == Specials::kIeee ? kInfinity : kMagnitude;
};

using Fp32Format = FloatFormat<8, 23>;
using Fp16Format = FloatFormat<5, 10>;
using Bf16Format = FloatFormat<8, 7>;
using Tf32Format = FloatFormat<8, 10>;
using E5m2Format = FloatFormat<5, 2>;
using E4m3Format = FloatFormat<4, 3, Specials::kNanOnly>;
using E3m2Format = FloatFormat<3, 2, Specials::kNone>;
using E2m3Format = FloatFormat<2, 3, Specials::kNone>;
using E2m1Format = FloatFormat<2, 1, Specials::kNone>;

/// fp32 or fp64 to `Format`. NaN becomes Format::kNan. Where the rounded magnitude is too large,
/// the result is as IEEE 754 says for the mode; with `saturate_finite`, and in formats without
/// infinity when a mode rounds toward zero, it is the largest finite number. Infinity saturates
/// likewise.
template <typename Format, typename Source>
inline uint32_t encode(Source value, Rounding rounding, bool saturate_finite = false) {
    using Bits = std::conditional_t<sizeof(Source) == 4, uint32_t, uint64_t>;
    constexpr int kSourceMantissa = sizeof(Source) == 4 ? 23 : 52;
    constexpr int kSourceBias = sizeof(Source) == 4 ? 127 : 1023;
    constexpr Bits kSourceSign = Bits{1} << (sizeof(Source) * 8 - 1);
    constexpr Bits kHidden = Bits{1} << kSourceMantissa;
    constexpr Bits kSourceInfinity = (kSourceSign - 1) & ~(kHidden - 1);
    // Biased source exponent of the smallest normal number of the target.
    constexpr int kSmallestNormal = 1 - Format::kBias + kSourceBias;
    constexpr int kNarrowing = kSourceMantissa - Format::kMantissaBits;
    static_assert(kNarrowing > 0);

    const Bits bits = std::bit_cast<Bits>(value);
    const Bits magnitude = bits & ~kSourceSign;
    const bool negative = (bits & kSourceSign) != 0;
    const int exponent = std::max(static_cast<int>(magnitude >> kSourceMantissa), 1);
    const Bits significand =
        (magnitude & (kHidden - 1)) | (magnitude >= kHidden ? kHidden : Bits{0});

    // A subnormal result drops more bits; past kSourceMantissa + 2 only "not zero" is left to know.
    const int excess = std::max(kSmallestNormal - exponent, 0);
    const int shift = std::min(kNarrowing + excess, kSourceMantissa + 2);
    const Bits unit = Bits{1} << shift;
    const Bits odd = (significand >> shift) & 1;
    const bool away = rounding == (negative ? Rounding::kDown : Rounding::kUp);
    const bool nearest = rounding == Rounding::kNearestEven;
    const Bits increment = nearest ? unit / 2 - 1 + odd : (away ? unit - 1 : Bits{0});
    const Bits rounded = (significand + increment) >> shift;
    // The hidden bit of `rounded` is the last step of the exponent, and so is a carry out of it.
    const Bits encoded = rounded + (static_cast<Bits>(std::max(exponent - kSmallestNormal, 0))
                                    << Format::kMantissaBits);

    const bool infinite = magnitude == kSourceInfinity;
    const bool stays_finite = saturate_finite || !(nearest || away || infinite);
    const Bits limit = stays_finite ? Format::kMaxFinite : Format::kOverflow;
    const Bits finite_or_limit = encoded > Format::kMaxFinite ? limit : encoded;
    const Bits signed_result = finite_or_limit | (negative ? Format::kSign : 0u);
    return static_cast<uint32_t>(magnitude > kSourceInfinity ? Bits{Format::kNan} : signed_result);
}

/// `Format` to fp32, always exact. A NaN stays a quiet NaN with its sign and payload.
template <typename Format>
inline float decode(uint32_t bits) {
    constexpr int kWidening = 23 - Format::kMantissaBits;
    const uint32_t magnitude = bits & Format::kMagnitude;
    const uint32_t sign = (bits & Format::kSign) != 0 ? 0x80000000u : 0u;
    uint32_t result = magnitude << kWidening;
    if constexpr (Format::kBias != 127) {
        constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(1 - Format::kBias + 127) << 23;
        const uint32_t normal = result + (static_cast<uint32_t>(127 - Format::kBias) << 23);
        // A subnormal's mantissa behind the hidden bit of 2^emin, less 2^emin, is its exact value.
        const float subnormal =
            std::bit_cast<float>(result | kSmallestNormal) - std::bit_cast<float>(kSmallestNormal);
        result =
            magnitude < (1u << Format::kMantissaBits) ? std::bit_cast<uint32_t>(subnormal) : normal;
        if constexpr (Format::kSpecials == Specials::kIeee) {
            result = magnitude >= Format::kInfinity
                         ? 0x7f800000u | ((magnitude & ~Format::kInfinity) << kWidening)
                         : result;
        } else if constexpr (Format::kSpecials == Specials::kNanOnly) {
            result = magnitude == Format::kNan ? 0x7fffffffu : result;
        }
    }
    if constexpr (Format::kSpecials == Specials::kIeee) {
        result |= result > 0x7f800000u ? 0x00400000u : 0u;
    }
    return std::bit_cast<float>(result | sign);
}

}  // namespace lockstep::numerics
