// SPDX-License-Identifier: Apache-2.0
// Range reduction to one binade (or one quarter turn), a table of 64 or 128 segments indexed by the
// leading digits, a quadratic in the 17 digits behind them, and the exponent put back. Structure
// and widths are those of Oberman and Siu (ARITH 2005). What a paper does not say was determined
// from results of an H200 (driver 580.159.04, 2026-11-27), all of which follow: the coefficients,
// the columns of the square that are left out, the constant that rounds the sum, and that the sum
// is then truncated. Sums are exact in a double.
#include "isa/sass/mufu/mufu.h"

#include <bit>
#include <cmath>
#include <limits>

#include "isa/sass/mufu/tables.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace lockstep::sass::mufu {

namespace {

constexpr std::uint32_t kNan = 0x7fffffffu;
constexpr std::uint32_t kInfinity = 0x7f800000u;
constexpr std::uint32_t kSign = 0x80000000u;
constexpr unsigned kLanes = 32;

/// What the unit's squarer gives for 17 digits: the partial products of the 15 columns that it has,
/// none of what stands to the right of them and no carry from there.
inline int square(int places) {
    const int high = places >> 10;
    int sum = 2 * high * (high + (places >> 9 & 1));
#pragma GCC unroll 7
    for (int i = 2; i <= 8; ++i) sum += (places & 1 << i) != 0 ? places >> (18 - i) : 0;
    return sum;
}

inline double quadratic(int segment, int places, int square) {
    const auto both = std::bit_cast<Slopes>(kTables.c1_c2[segment]);
    return kTables.c0[segment] + places * double{both.c1} + square * double{both.c2};
}

/// 2^exponent for -1022 <= exponent <= 1023.
inline double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

inline std::uint32_t flush(std::uint32_t bits) {
    return (bits & kInfinity) == 0 ? bits & kSign : bits;
}

/// To 24 digits, towards zero. For zero and what is normal as fp32.
inline std::uint32_t truncated(double value) {
    const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~0x1fffffffull);
    return std::bit_cast<std::uint32_t>(static_cast<float>(cut));
}
/// The same times 2^exponent, flushed where it is subnormal.
inline std::uint32_t scaled(double value, int exponent) {
    const int bits = static_cast<int>(truncated(value)) + exponent * (1 << 23);
    return bits < 0x00800000 ? 0 : static_cast<std::uint32_t>(bits);
}
/// condition ? a : b, without the branch around a conversion that keeps GCC from vectorising.
inline std::uint32_t select(bool condition, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
    return (a & mask) | (b & ~mask);
}
inline bool is_nan(std::uint32_t bits) {
    return (bits & ~kSign) > kInfinity;
}
inline int exponent_of(std::uint32_t magnitude) {
    return static_cast<int>(magnitude >> 23 & 255) - 127;
}

/// The magnitude with so many digits behind the point, truncated, modulo 2^31.
inline std::uint32_t fixed_point(std::uint32_t magnitude, int digits) {
    const std::uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    const int left = static_cast<int>(magnitude >> 23) - 150 + digits;
    const int to_left = left < 0 ? 0 : left > 31 ? 31 : left;
    const int to_right = left > 0 ? 0 : left < -31 ? 31 : -left;
    return mantissa << to_left >> to_right;
}

/// Where a source lies: its segment and the digits of the distance from that segment's begin.
struct Place {
    int segment, places;
};
/// 6 digits that choose the segment, 17 behind.
inline Place place_of_64(int base, int digits) {
    return {base + (digits >> 17 & 63), digits & 0x1ffff};
}

// Each function is two steps around the quadratic: place(x), then finish(x, y).

struct Reciprocal {
    static Place place(std::uint32_t x) {
        return {kReciprocalBase + static_cast<int>(x >> 16 & 127),
                static_cast<int>(x & 0xffff) * 2};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t sign = x & kSign, magnitude = flush(x) & ~kSign;
        std::uint32_t result = scaled(y, -exponent_of(magnitude));
        result = magnitude == 0 ? kInfinity : result;
        result = magnitude == kInfinity ? 0 : result;
        return magnitude > kInfinity ? kNan : result | sign;
    }
};

/// An even exponent uses the segments of [1, 2), an odd one those of [2, 4).
inline Place place_of_root(int base, std::uint32_t x) {
    return place_of_64(base + (~static_cast<int>(x >> 23) & 1) * 64, static_cast<int>(x));
}
/// A NaN or below zero.
inline bool has_no_root(std::uint32_t flushed) {
    return (flushed & ~kSign) > kInfinity || flushed > kSign;
}

struct ReciprocalRoot {
    static Place place(std::uint32_t x) { return place_of_root(kReciprocalRootBase, x); }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
        const int half = exponent_of(magnitude) >> 1;
        std::uint32_t result = scaled(y, -half);
        // Powers of four, alone, are not left to the table, which is below 1 there.
        result = (magnitude & 0xffffff) == 0x800000 ? static_cast<std::uint32_t>(127 - half) << 23
                                                    : result;
        result = magnitude == kInfinity ? 0 : result;
        result = magnitude == 0 ? kInfinity | flushed : result;
        return has_no_root(flushed) ? kNan : result;
    }
};

struct Root {
    static Place place(std::uint32_t x) { return place_of_root(kRootBase, x); }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
        std::uint32_t result = scaled(y, exponent_of(magnitude) >> 1);
        result = magnitude == kInfinity ? kInfinity : result;
        result = magnitude == 0 ? flushed : result;
        return has_no_root(flushed) ? kNan : result;
    }
};

struct Exponential {
    static constexpr std::uint32_t kBeyond = 0x43000000;  // 128

    /// Fixed point of 23 digits, truncated towards zero. What is negative is complemented, not
    /// negated, unless the digits are zeros.
    static int fixed(std::uint32_t x) {
        const std::uint32_t magnitude = x & ~kSign;
        const float limited = std::bit_cast<float>(magnitude < kBeyond ? magnitude : kBeyond - 1);
        const int digits = static_cast<int>(limited * 0x1p23f);
        const int negative = static_cast<int>(x) >> 31;
        return (digits ^ negative) - ((digits & 0x7fffff) == 0 ? negative : 0);
    }
    static Place place(std::uint32_t x) { return place_of_64(kExponentialBase, fixed(x)); }
    static std::uint32_t finish(std::uint32_t x, double y) {
        std::uint32_t result = scaled(y, fixed(x) >> 23);
        result = (x & ~kSign) >= kBeyond ? (x >> 31 != 0 ? 0 : kInfinity) : result;
        return is_nan(x) ? kNan : result;
    }
};

struct Logarithm {
    static Place place(std::uint32_t x) { return place_of_64(kLogarithmBase, static_cast<int>(x)); }
    static std::uint32_t finish(std::uint32_t x, double y) {
        // Fixed point of 36 digits: that is what doubles from 2^16 on have, and y has 40.
        const double fraction = (y - (0x1p-37 - 0x1p-41)) + 0x1p16 - 0x1p16;
        const double sum = exponent_of(x) + fraction;
        // What is negative is complemented, not negated.
        const std::uint64_t is_negative = std::bit_cast<std::uint64_t>(sum) >> 63;
        const double above = std::fabs(sum) - static_cast<double>(is_negative) * 0x1p-36;
        std::uint32_t result = truncated(above) | static_cast<std::uint32_t>(is_negative) << 31;
        result = select(x == 0x3f800000u, 0, result);
        result = select(x >= kInfinity, x == kInfinity ? kInfinity : kNan, result);
        return select((x & kInfinity) == 0, kInfinity | kSign, result);
    }
};

/// sin(2 pi x), or cos where quarters = 1.
template <int quarters>
struct Sine {
    /// Fixed point: the number of the quarter turn, and 23 digits behind. Turns are discarded.
    static int fixed(std::uint32_t x) {
        return static_cast<int>(fixed_point(x & ~kSign, 25)) + (quarters << 23);
    }
    static Place place(std::uint32_t x) {
        const int angle = fixed(x);
        // Odd quarters run backwards: complemented, not negated.
        return place_of_64(kSineBase, angle ^ -(angle >> 23 & 1));
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const int angle = fixed(x);
        const std::uint32_t half_sign = static_cast<std::uint32_t>(angle >> 24 & 1) << 31;
        const std::uint32_t odd_sign = quarters == 0 ? x & kSign : 0;
        const bool is_top = (angle & 0xffffff) == 0x800000;
        const std::uint32_t result = select(is_top, 0x3f800000u, truncated(y));
        return select((x & ~kSign) >= kInfinity, kNan, result ^ odd_sign ^ half_sign);
    }
};

struct HyperbolicTangent {
    // Below 2^-8 the result is the source, from 8 on it is 1.
    static constexpr std::uint32_t kSmall = (127u + kTangentFirstExponent) << 23;
    static constexpr std::uint32_t kLarge = (127u + 3) << 23;

    static Place place(std::uint32_t x) {
        const std::uint32_t magnitude = x & ~kSign;
        const std::uint32_t clamped = magnitude < kSmall ? kSmall : magnitude;
        const std::uint32_t inside = clamped < kLarge ? clamped : kLarge - 1;
        const int binade = static_cast<int>(kTangentStarts[(inside - kSmall) >> 23]);
        const int digits = static_cast<int>(inside & 0x7fffff) >> (binade & 7);
        return {kTangentBase + (binade >> 3) + (digits >> 17), digits & 0x1ffff};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t sign = x & kSign, magnitude = x & ~kSign;
        std::uint32_t result = select(magnitude < kSmall, magnitude, truncated(y));
        result = select(magnitude >= kLarge, 0x3f800000u, result);
        return select(magnitude > kInfinity, kNan, result | sign);
    }
};

constexpr std::uint32_t kInfinity64 = 0x7ff00000u;

/// Truncated to 20 digits behind the point.
inline std::uint32_t upper_half(double value) {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
}
/// |x| with subnormals flushed, for the upper half of a double.
inline std::uint32_t magnitude_64h(std::uint32_t x) {
    const std::uint32_t magnitude = x & ~kSign;
    return magnitude < 0x00100000u ? 0 : magnitude;
}

struct Reciprocal64h {
    static Place place(std::uint32_t x) {
        return {kReciprocalBase + static_cast<int>(x >> 13 & 127), static_cast<int>(x & 0x1fff)
                                                                       << 4};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t sign = x & kSign, magnitude = magnitude_64h(x);
        const int exponent = static_cast<int>(magnitude >> 20) - 1023;
        const std::uint32_t mantissa = upper_half(y);  // of a number in [1/2, 1]
        const int biased = static_cast<int>(mantissa >> 20) - exponent;
        std::uint32_t result = (mantissa & 0xfffff) | static_cast<std::uint32_t>(biased) << 20;
        result = biased <= 0 ? 0 : result;
        result = magnitude == 0 ? kInfinity64 : result;
        result = magnitude == kInfinity64 ? 0 : result;
        return magnitude > kInfinity64 ? kNan : result | sign;
    }
};

struct ReciprocalRoot64h {
    static Place place(std::uint32_t x) {
        const int odd = (static_cast<int>(x >> 20) - 1023) & 1;
        return place_of_64(kReciprocalRootBase + odd * 64, static_cast<int>(x << 3));
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t sign = x & kSign, magnitude = magnitude_64h(x);
        const int exponent = static_cast<int>(magnitude >> 20) - 1023;
        const bool is_exact = (magnitude & 0x1fffff) == 0x100000;
        std::uint32_t result = upper_half((is_exact ? 1.0 : y) * power_of_two(-(exponent >> 1)));
        result = magnitude == kInfinity64 ? 0 : result;
        result = magnitude == 0 ? kInfinity64 | sign : result;
        const bool invalid = magnitude > kInfinity64 || (magnitude != 0 && sign != 0);
        return invalid ? kNan : result;
    }
};

/// Calls run.operator()<Steps>() for the function.
template <typename Run>
inline auto dispatch(Function function, Run&& run) {
    switch (function) {
        case Function::kCos:
            return run.template operator()<Sine<1>>();
        case Function::kSin:
            return run.template operator()<Sine<0>>();
        case Function::kEx2:
            return run.template operator()<Exponential>();
        case Function::kLg2:
            return run.template operator()<Logarithm>();
        case Function::kRcp:
            return run.template operator()<Reciprocal>();
        case Function::kRsq:
            return run.template operator()<ReciprocalRoot>();
        case Function::kRcp64h:
            return run.template operator()<Reciprocal64h>();
        case Function::kRsq64h:
            return run.template operator()<ReciprocalRoot64h>();
        case Function::kSqrt:
            return run.template operator()<Root>();
        case Function::kTanh:
            break;
    }
    return run.template operator()<HyperbolicTangent>();
}

/// The quadratic of each lane.
inline void quadratics(double* y, const int* segment, const int* places) {
    alignas(64) int squares[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) squares[l] = square(places[l]);
#if defined(__AVX512F__)
    // GCC 12 does not form these gathers by itself. The zero-masked form avoids its warnings.
    const auto load = [](const int* lanes) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes));
    };
    const auto number = [load](const int* lanes) {
        return _mm512_mask_cvtepi32_pd(_mm512_setzero_pd(), 0xff, load(lanes));
    };
    const auto as_double = [](__m512i bits) {  // the lower half of each element, a float
        return _mm512_mask_cvtps_pd(
            _mm512_setzero_pd(), 0xff,
            _mm256_castsi256_ps(_mm512_mask_cvtepi64_epi32(_mm256_setzero_si256(), 0xff, bits)));
    };
    for (unsigned l = 0; l < kLanes; l += 8) {
        const __m256i index = load(segment + l);
        const __m512i both =
            _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), 0xff, index, kTables.c1_c2, 8);
        const __m512d c1 = as_double(both);
        const __m512d c2 = as_double(_mm512_maskz_srli_epi64(0xff, both, 32));
        const __m512d linear = _mm512_mul_pd(number(places + l), c1);
        const __m512d curved = _mm512_mul_pd(number(squares + l), c2);
        const __m512d c0 =
            _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, index, kTables.c0, 8);
        _mm512_storeu_pd(y + l, _mm512_add_pd(_mm512_add_pd(c0, linear), curved));
    }
#else
    for (unsigned l = 0; l < kLanes; ++l) y[l] = quadratic(segment[l], places[l], squares[l]);
#endif
}

}  // namespace

std::uint32_t evaluate(Function function, std::uint32_t x) {
    return dispatch(function, [x]<typename Steps>() {
        const Place place = Steps::place(x);
        return Steps::finish(x, quadratic(place.segment, place.places, square(place.places)));
    });
}

void quadratic_place(Function function, std::uint32_t x, int& segment, int& places) {
    const Place place = dispatch(function, [x]<typename Steps>() { return Steps::place(x); });
    segment = place.segment, places = place.places;
}

int square_of_places(int places) {
    return square(places);
}

void evaluate_row(Function function, std::uint32_t* out, const std::uint32_t* x) {
    dispatch(function, [out, x]<typename Steps>() {
        alignas(64) int segment[kLanes], places[kLanes];
        alignas(64) double y[kLanes];
        for (unsigned l = 0; l < kLanes; ++l) {
            const Place place = Steps::place(x[l]);
            segment[l] = place.segment;
            places[l] = place.places;
        }
        quadratics(y, segment, places);
#pragma GCC ivdep
        for (unsigned l = 0; l < kLanes; ++l) out[l] = Steps::finish(x[l], y[l]);
    });
}

}  // namespace lockstep::sass::mufu
