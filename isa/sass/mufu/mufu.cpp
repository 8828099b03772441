// SPDX-License-Identifier: Apache-2.0
// Range reduction to one binade (or one quarter turn), a table of 64 or 128 segments indexed by the
// leading bits, a quadratic in the rest, and the exponent put back. Structure and table widths are
// those of Oberman and Siu (ARITH 2005), on which NVIDIA's unit is built; the coefficients of real
// chips are not published, so results may differ from silicon in the last bits, within the
// bounds that the CUDA Programming Guide and the PTX ISA state. The sum is formed exactly and
// rounded to nearest once.
#include "isa/sass/mufu/mufu.h"

#include <bit>
#include <cmath>
#include <limits>

#include "isa/sass/mufu/tables.h"

namespace lockstep::sass::mufu {

namespace {

constexpr std::uint32_t kNan = 0x7fffffffu;
constexpr std::uint32_t kInfinity = 0x7f800000u;
constexpr std::uint32_t kSign = 0x80000000u;
constexpr unsigned kLanes = 32;

inline double quadratic(int segment, double t) {
    return kTables.c0[segment] + t * (kTables.c1[segment] + t * kTables.c2[segment]);
}

/// 2^exponent for -1022 <= exponent <= 1023.
inline double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

inline std::uint32_t flush(std::uint32_t bits) {
    return (bits & kInfinity) == 0 ? bits & kSign : bits;
}

inline std::uint32_t rounded(double value) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

inline bool is_nan(std::uint32_t bits) {
    return (bits & ~kSign) > kInfinity;
}

inline std::uint32_t reciprocal(std::uint32_t x) {
    const std::uint32_t sign = x & kSign, magnitude = flush(x) & ~kSign;
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const double t = static_cast<double>(static_cast<int>(magnitude & 0xffff)) * 0x1p-23;
    const double y = quadratic(kReciprocalBase + static_cast<int>(magnitude >> 16 & 127), t);
    std::uint32_t result = flush(rounded(y * power_of_two(-exponent)));
    result = magnitude == 0 ? kInfinity : result;
    result = magnitude == kInfinity ? 0 : result;
    return magnitude > kInfinity ? kNan : result | sign;
}

/// 1 / sqrt of a positive normal magnitude, as a double that is not yet rounded.
inline double reciprocal_root(std::uint32_t magnitude) {
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const int odd = exponent & 1;
    const double t = static_cast<double>(static_cast<int>(magnitude & 0x1ffff)) * 0x1p-23;
    const int segment = kReciprocalRootBase + odd * 64 + static_cast<int>(magnitude >> 17 & 63);
    return quadratic(segment, t) * power_of_two(-((exponent - odd) / 2));
}

inline std::uint32_t reciprocal_square_root(std::uint32_t x) {
    const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
    std::uint32_t result = rounded(reciprocal_root(magnitude));
    result = magnitude == kInfinity ? 0 : result;
    result = magnitude == 0 ? kInfinity | flushed : result;
    const bool invalid = magnitude > kInfinity || (magnitude != 0 && flushed != magnitude);
    return invalid ? kNan : result;
}

inline std::uint32_t square_root(std::uint32_t x) {
    const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
    const double value = std::bit_cast<float>(magnitude);
    std::uint32_t result = rounded(value * reciprocal_root(magnitude));
    result = magnitude == kInfinity ? kInfinity : result;
    result = magnitude == 0 ? flushed : result;
    const bool invalid = magnitude > kInfinity || (magnitude != 0 && flushed != magnitude);
    return invalid ? kNan : result;
}

inline std::uint32_t exponential(std::uint32_t x) {
    const float value = std::bit_cast<float>(x);
    // The unit works on a fixed-point number; 24 places suffice for full precision of the result.
    const float limited = value > 128.0f ? 128.0f : (value > -127.0f ? value : -127.0f);
    const double fixed = std::nearbyint(static_cast<double>(limited) * 0x1p24);
    const double whole = std::floor(fixed * 0x1p-24);
    const double fraction = fixed * 0x1p-24 - whole;
    const int segment = static_cast<int>(fraction * 64);
    const double y = quadratic(kExponentialBase + segment, fraction - segment * 0x1p-6);
    const std::uint32_t result = flush(rounded(y * power_of_two(static_cast<int>(whole))));
    return is_nan(x) ? kNan : result;
}

inline std::uint32_t logarithm(std::uint32_t x) {
    const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const double t = static_cast<double>(static_cast<int>(magnitude & 0x1ffff)) * 0x1p-23;
    const double y = quadratic(kLogarithmBase + static_cast<int>(magnitude >> 17 & 63), t);
    std::uint32_t result = rounded(y + exponent);
    result = magnitude == kInfinity ? kInfinity : result;
    result = magnitude == 0 ? kInfinity | kSign : result;
    const bool invalid = magnitude > kInfinity || (magnitude != 0 && flushed != magnitude);
    return invalid ? kNan : result;
}

/// sin(2 pi x) for quarters = 0, cos for 1.
inline std::uint32_t sine(std::uint32_t x, int quarters) {
    const std::uint32_t magnitude = flush(x) & ~kSign;
    const double value = std::bit_cast<float>(magnitude < kInfinity ? magnitude : 0);
    const double turns = (value - std::floor(value)) * 4;
    const double whole = std::floor(turns);
    const int quarter = static_cast<int>(whole) + quarters;
    const double within = quarter & 1 ? 1 - (turns - whole) : turns - whole;
    const int segment = static_cast<int>(within * 64);
    const double y = quadratic(kSineBase + segment, within - segment * 0x1p-6);
    const std::uint32_t odd_sign = quarters == 0 ? x & kSign : 0;
    const std::uint32_t half_sign = quarter & 2 ? kSign : 0;
    const std::uint32_t result = rounded(y) ^ odd_sign ^ half_sign;
    return magnitude >= kInfinity ? kNan : result;
}

inline std::uint32_t hyperbolic_tangent(std::uint32_t x) {
    const std::uint32_t sign = x & kSign, magnitude = x & ~kSign;
    const double value = std::bit_cast<float>(magnitude);
    // Below 2^-5 two terms of the series are exact enough, from 8 on the result rounds to 1.
    constexpr std::uint32_t kSmall = (127u - 5) << 23, kLarge = (127u + 3) << 23;
    const double series = value - value * value * value * (1.0 / 3);
    const std::uint32_t clamped = magnitude < kSmall ? kSmall : magnitude;
    const std::uint32_t inside = clamped < kLarge ? clamped : kLarge - 1;
    const double t = static_cast<double>(static_cast<int>(inside & 0xfffff)) * 0x1p-23;
    const int segment = kTangentBase + static_cast<int>((inside - kSmall) >> 20);
    std::uint32_t result = rounded(quadratic(segment, t));
    result = magnitude < kSmall ? rounded(series) : result;
    result = magnitude < 0x00800000u ? magnitude : result;
    result = magnitude >= kLarge ? 0x3f800000u : result;
    return magnitude > kInfinity ? kNan : result | sign;
}

constexpr std::uint32_t kInfinity64 = 0x7ff00000u;

inline std::uint32_t upper_half(double value) {
    // Rounded to nearest at the 20th place, as the lower half is discarded.
    return static_cast<std::uint32_t>((std::bit_cast<std::uint64_t>(value) + 0x8000'0000u) >> 32);
}

inline std::uint32_t reciprocal_64h(std::uint32_t x) {
    const std::uint32_t sign = x & kSign;
    std::uint32_t magnitude = x & ~kSign;
    magnitude = magnitude < 0x00100000u ? 0 : magnitude;
    const int exponent = static_cast<int>(magnitude >> 20) - 1023;
    const double t = static_cast<double>(static_cast<int>(magnitude & 0x1fff)) * 0x1p-20;
    const double y = quadratic(kReciprocalBase + static_cast<int>(magnitude >> 13 & 127), t);
    const std::uint32_t mantissa = upper_half(y);  // of a number in [1/2, 1]
    const int biased = static_cast<int>(mantissa >> 20) - exponent;
    std::uint32_t result = (mantissa & 0xfffff) | static_cast<std::uint32_t>(biased) << 20;
    result = biased <= 0 ? 0 : result;
    result = magnitude == 0 ? kInfinity64 : result;
    result = magnitude == kInfinity64 ? 0 : result;
    return magnitude > kInfinity64 ? kNan : result | sign;
}

inline std::uint32_t reciprocal_square_root_64h(std::uint32_t x) {
    const std::uint32_t sign = x & kSign;
    std::uint32_t magnitude = x & ~kSign;
    magnitude = magnitude < 0x00100000u ? 0 : magnitude;
    const int exponent = static_cast<int>(magnitude >> 20) - 1023;
    const int odd = exponent & 1;
    const double t = static_cast<double>(static_cast<int>(magnitude & 0x3fff)) * 0x1p-20;
    const int segment = kReciprocalRootBase + odd * 64 + static_cast<int>(magnitude >> 14 & 63);
    const double y = quadratic(segment, t) * power_of_two(-((exponent - odd) / 2));
    std::uint32_t result = upper_half(y);
    result = magnitude == kInfinity64 ? 0 : result;
    result = magnitude == 0 ? kInfinity64 | sign : result;
    const bool invalid = magnitude > kInfinity64 || (magnitude != 0 && sign != 0);
    return invalid ? kNan : result;
}

/// Calls run with the function as a lambda of one lane.
template <typename Run>
inline auto dispatch(Function function, Run&& run) {
    using U = std::uint32_t;
    switch (function) {
        case Function::kCos:
            return run([](U x) { return sine(x, 1); });
        case Function::kSin:
            return run([](U x) { return sine(x, 0); });
        case Function::kEx2:
            return run([](U x) { return exponential(x); });
        case Function::kLg2:
            return run([](U x) { return logarithm(x); });
        case Function::kRcp:
            return run([](U x) { return reciprocal(x); });
        case Function::kRsq:
            return run([](U x) { return reciprocal_square_root(x); });
        case Function::kRcp64h:
            return run([](U x) { return reciprocal_64h(x); });
        case Function::kRsq64h:
            return run([](U x) { return reciprocal_square_root_64h(x); });
        case Function::kSqrt:
            return run([](U x) { return square_root(x); });
        case Function::kTanh:
            break;
    }
    return run([](U x) { return hyperbolic_tangent(x); });
}

}  // namespace

std::uint32_t evaluate(Function function, std::uint32_t x) {
    return dispatch(function, [x](auto&& lane) { return lane(x); });
}

void evaluate_row(Function function, std::uint32_t* out, const std::uint32_t* x) {
    dispatch(function, [out, x](auto&& lane) {
#pragma GCC ivdep
        for (unsigned l = 0; l < kLanes; ++l) out[l] = lane(x[l]);
    });
}

}  // namespace lockstep::sass::mufu
