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

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

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

/// Where a source lies: its segment and the distance from that segment's begin.
struct Place {
    int segment;
    double t;
};

// Each function is two steps around the quadratic: place(x), then finish(x, y).

struct Reciprocal {
    static Place place(std::uint32_t x) {
        return {kReciprocalBase + static_cast<int>(x >> 16 & 127),
                static_cast<int>(x & 0xffff) * 0x1p-23};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t sign = x & kSign, magnitude = flush(x) & ~kSign;
        const int exponent = static_cast<int>(magnitude >> 23) - 127;
        std::uint32_t result = flush(rounded(y * power_of_two(-exponent)));
        result = magnitude == 0 ? kInfinity : result;
        result = magnitude == kInfinity ? 0 : result;
        return magnitude > kInfinity ? kNan : result | sign;
    }
};

/// An even exponent uses the segments of [1, 2), an odd one those of [2, 4).
inline Place place_of_root(std::uint32_t x) {
    const int odd = (static_cast<int>(x >> 23) - 127) & 1;
    return {kReciprocalRootBase + odd * 64 + static_cast<int>(x >> 17 & 63),
            static_cast<int>(x & 0x1ffff) * 0x1p-23};
}
/// y with half the negated exponent of x.
inline double scaled_root(std::uint32_t magnitude, double y) {
    return y * power_of_two(-((static_cast<int>(magnitude >> 23) - 127) >> 1));
}
/// A NaN or below zero.
inline bool has_no_root(std::uint32_t flushed) {
    return (flushed & ~kSign) > kInfinity || flushed > kSign;
}

struct ReciprocalRoot {
    static Place place(std::uint32_t x) { return place_of_root(x); }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
        std::uint32_t result = rounded(scaled_root(magnitude, y));
        result = magnitude == kInfinity ? 0 : result;
        result = magnitude == 0 ? kInfinity | flushed : result;
        return has_no_root(flushed) ? kNan : result;
    }
};

struct Root {
    static Place place(std::uint32_t x) { return place_of_root(x); }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
        const double value = std::bit_cast<float>(magnitude);
        std::uint32_t result = rounded(value * scaled_root(magnitude, y));
        result = magnitude == kInfinity ? kInfinity : result;
        result = magnitude == 0 ? flushed : result;
        return has_no_root(flushed) ? kNan : result;
    }
};

struct Exponential {
    /// The unit works on a fixed-point number; 24 places suffice for the result's full precision.
    static int fixed(std::uint32_t x) {
        const float value = std::bit_cast<float>(x);
        const float above = value > -127.0f ? value : -127.0f;
        const float limited = above < 127.99999f ? above : 127.99999f;
        return static_cast<int>(std::nearbyint(limited * 0x1p24f));
    }
    static Place place(std::uint32_t x) {
        const int value = fixed(x);
        return {kExponentialBase + (value >> 18 & 63), (value & 0x3ffff) * 0x1p-24};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        std::uint32_t result = flush(rounded(y * power_of_two(fixed(x) >> 24)));
        const float value = std::bit_cast<float>(x);
        result = value >= 128.0f ? kInfinity : result;
        return is_nan(x) ? kNan : result;
    }
};

struct Logarithm {
    static Place place(std::uint32_t x) {
        return {kLogarithmBase + static_cast<int>(x >> 17 & 63),
                static_cast<int>(x & 0x1ffff) * 0x1p-23};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t flushed = flush(x), magnitude = flushed & ~kSign;
        std::uint32_t result = rounded(y + (static_cast<int>(magnitude >> 23) - 127));
        result = magnitude == kInfinity ? kInfinity : result;
        result = magnitude == 0 ? kInfinity | kSign : result;
        return has_no_root(flushed) ? kNan : result;
    }
};

/// sin(2 pi x), or cos where quarters = 1.
template <int quarters>
struct Sine {
    /// Quarter turns: the whole ones, and the rest in [0, 1).
    static double turns(std::uint32_t x, double& whole) {
        const std::uint32_t magnitude = flush(x) & ~kSign;
        const double value = std::bit_cast<float>(magnitude < kInfinity ? magnitude : 0);
        const double turn = (value - std::floor(value)) * 4;
        whole = std::floor(turn);
        return turn - whole;
    }
    static Place place(std::uint32_t x) {
        double whole;
        const double rest = turns(x, whole);
        const int odd = (static_cast<int>(whole) + quarters) & 1;
        const double within = odd != 0 ? 1 - rest : rest;
        const int segment = static_cast<int>(within * 64);
        return {kSineBase + segment, within - segment * 0x1p-6};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        double whole;
        turns(x, whole);
        const std::uint32_t half_sign =
            static_cast<std::uint32_t>((static_cast<int>(whole) + quarters) & 2) << 30;
        const std::uint32_t odd_sign = quarters == 0 ? x & kSign : 0;
        return (x & ~kSign) >= kInfinity ? kNan : rounded(y) ^ odd_sign ^ half_sign;
    }
};

struct HyperbolicTangent {
    // Below 2^-5 two terms of the series are exact enough, from 8 on the result rounds to 1.
    static constexpr std::uint32_t kSmall = (127u - 5) << 23, kLarge = (127u + 3) << 23;

    static Place place(std::uint32_t x) {
        const std::uint32_t magnitude = x & ~kSign;
        const std::uint32_t clamped = magnitude < kSmall ? kSmall : magnitude;
        const std::uint32_t inside = clamped < kLarge ? clamped : kLarge - 1;
        return {kTangentBase + static_cast<int>((inside - kSmall) >> 20),
                static_cast<int>(inside & 0xfffff) * 0x1p-23};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t sign = x & kSign, magnitude = x & ~kSign;
        const double value = std::bit_cast<float>(magnitude);
        const std::uint32_t series = rounded(value - value * value * value * (1.0 / 3));
        std::uint32_t result = magnitude < kSmall ? series : rounded(y);
        result = magnitude < 0x00800000u ? magnitude : result;
        result = magnitude >= kLarge ? 0x3f800000u : result;
        return magnitude > kInfinity ? kNan : result | sign;
    }
};

constexpr std::uint32_t kInfinity64 = 0x7ff00000u;

/// Rounded to nearest at the 20th place, as the lower half is discarded.
inline std::uint32_t upper_half(double value) {
    return static_cast<std::uint32_t>((std::bit_cast<std::uint64_t>(value) + 0x8000'0000u) >> 32);
}
/// |x| with subnormals flushed, for the upper half of a double.
inline std::uint32_t magnitude_64h(std::uint32_t x) {
    const std::uint32_t magnitude = x & ~kSign;
    return magnitude < 0x00100000u ? 0 : magnitude;
}

struct Reciprocal64h {
    static Place place(std::uint32_t x) {
        return {kReciprocalBase + static_cast<int>(x >> 13 & 127),
                static_cast<int>(x & 0x1fff) * 0x1p-20};
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
        return {kReciprocalRootBase + odd * 64 + static_cast<int>(x >> 14 & 63),
                static_cast<int>(x & 0x3fff) * 0x1p-20};
    }
    static std::uint32_t finish(std::uint32_t x, double y) {
        const std::uint32_t sign = x & kSign, magnitude = magnitude_64h(x);
        const int exponent = static_cast<int>(magnitude >> 20) - 1023;
        std::uint32_t result = upper_half(y * power_of_two(-(exponent >> 1)));
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
inline void quadratics(double* y, const int* segment, const double* t) {
#if defined(__AVX512F__)
    // GCC 12 does not form these gathers by itself. The zero-masked form avoids its warnings.
    const auto gather = [](__m256i index, const double* table) {
        return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, index, table, 8);
    };
    for (unsigned l = 0; l < kLanes; l += 8) {
        const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(segment + l));
        const __m512d x = _mm512_loadu_pd(t + l);
        const __m512d inner =
            _mm512_add_pd(gather(index, kTables.c1), _mm512_mul_pd(x, gather(index, kTables.c2)));
        _mm512_storeu_pd(y + l, _mm512_add_pd(gather(index, kTables.c0), _mm512_mul_pd(x, inner)));
    }
#else
    for (unsigned l = 0; l < kLanes; ++l) y[l] = quadratic(segment[l], t[l]);
#endif
}

}  // namespace

std::uint32_t evaluate(Function function, std::uint32_t x) {
    return dispatch(function, [x]<typename Steps>() {
        const Place place = Steps::place(x);
        return Steps::finish(x, quadratic(place.segment, place.t));
    });
}

void quadratic_place(Function function, std::uint32_t x, int& segment, double& t) {
    const Place place = dispatch(function, [x]<typename Steps>() { return Steps::place(x); });
    segment = place.segment, t = place.t;
}

void evaluate_row(Function function, std::uint32_t* out, const std::uint32_t* x) {
    dispatch(function, [out, x]<typename Steps>() {
        alignas(64) int segment[kLanes];
        alignas(64) double t[kLanes], y[kLanes];
        for (unsigned l = 0; l < kLanes; ++l) {
            const Place place = Steps::place(x[l]);
            segment[l] = place.segment;
            t[l] = place.t;
        }
        quadratics(y, segment, t);
#pragma GCC ivdep
        for (unsigned l = 0; l < kLanes; ++l) out[l] = Steps::finish(x[l], y[l]);
    });
}

}  // namespace lockstep::sass::mufu
