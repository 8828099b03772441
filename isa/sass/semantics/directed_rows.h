// SPDX-License-Identifier: Apache-2.0
// Arithmetic on whole rows in a directed rounding mode. AVX-512 instructions carry the mode; other
// hosts go lane by lane.
#pragma once

#include <cstddef>

#include "isa/sass/semantics/lanes.h"
#include "sim/numerics/fp32.h"
#include "sim/numerics/rounding.h"

namespace lockstep::sass {

#if defined(__AVX512F__)

template <numerics::Rounding rounding>
constexpr int kHostRounding = _MM_FROUND_NO_EXC |
                              (rounding == numerics::Rounding::kDown
                                   ? _MM_FROUND_TO_NEG_INF
                                   : (rounding == numerics::Rounding::kUp
                                          ? _MM_FROUND_TO_POS_INF
                                          : (rounding == numerics::Rounding::kTowardZero
                                                 ? _MM_FROUND_TO_ZERO
                                                 : _MM_FROUND_TO_NEAREST_INT)));

/// Calls f.operator()<mode>() with the constant that `rounding` is.
template <typename F>
inline void with_rounding(numerics::Rounding rounding, F&& f) {
    using numerics::Rounding;
    switch (rounding) {
        case Rounding::kDown:
            return f.template operator()<kHostRounding<Rounding::kDown>>();
        case Rounding::kUp:
            return f.template operator()<kHostRounding<Rounding::kUp>>();
        case Rounding::kTowardZero:
            return f.template operator()<kHostRounding<Rounding::kTowardZero>>();
        default:
            return f.template operator()<kHostRounding<Rounding::kNearestEven>>();
    }
}

// The zero-masked forms: GCC 12 warns of uninitialised values in the headers of the plain ones.
constexpr __mmask16 kAll16 = 0xffff;
constexpr __mmask8 kAll8 = 0xff;

inline __m512 load(const float* p) {
    return _mm512_loadu_ps(p);
}
inline __m512d load(const double* p) {
    return _mm512_loadu_pd(p);
}
inline void store(float* p, __m512 v) {
    _mm512_storeu_ps(p, v);
}
inline void store(double* p, __m512d v) {
    _mm512_storeu_pd(p, v);
}

#endif

/// 32 lanes of doubles, rounded to single precision.
inline void narrow_rows(float* out, const double* a, numerics::Rounding rounding) {
#if defined(__AVX512F__)
    with_rounding(rounding, [&]<int mode>() {
        for (std::size_t l = 0; l < kWarpSize; l += 8)
            _mm256_storeu_ps(out + l, _mm512_maskz_cvt_roundpd_ps(kAll8, load(a + l), mode));
    });
#else
    for (unsigned l = 0; l < kWarpSize; ++l) out[l] = numerics::fp64_to_fp32(a[l], rounding);
#endif
}

/// 32 lanes of a + b.
template <typename T>
inline void add_rows(T* out, const T* a, const T* b, numerics::Rounding rounding) {
#if defined(__AVX512F__)
    with_rounding(rounding, [&]<int mode>() {
        for (std::size_t l = 0; l < kWarpSize; l += 64 / sizeof(T)) {
            if constexpr (sizeof(T) == 4)
                store(out + l, _mm512_maskz_add_round_ps(kAll16, load(a + l), load(b + l), mode));
            else
                store(out + l, _mm512_maskz_add_round_pd(kAll8, load(a + l), load(b + l), mode));
        }
    });
#else
    for (unsigned l = 0; l < kWarpSize; ++l) out[l] = numerics::add(a[l], b[l], rounding);
#endif
}

/// 32 lanes of a * b.
template <typename T>
inline void multiply_rows(T* out, const T* a, const T* b, numerics::Rounding rounding) {
#if defined(__AVX512F__)
    with_rounding(rounding, [&]<int mode>() {
        for (std::size_t l = 0; l < kWarpSize; l += 64 / sizeof(T)) {
            if constexpr (sizeof(T) == 4)
                store(out + l, _mm512_maskz_mul_round_ps(kAll16, load(a + l), load(b + l), mode));
            else
                store(out + l, _mm512_maskz_mul_round_pd(kAll8, load(a + l), load(b + l), mode));
        }
    });
#else
    for (unsigned l = 0; l < kWarpSize; ++l) out[l] = numerics::multiply(a[l], b[l], rounding);
#endif
}

/// 32 lanes of a * b + c, rounded once.
template <typename T>
inline void fma_rows(T* out, const T* a, const T* b, const T* c, numerics::Rounding rounding) {
#if defined(__AVX512F__)
    with_rounding(rounding, [&]<int mode>() {
        for (std::size_t l = 0; l < kWarpSize; l += 64 / sizeof(T)) {
            if constexpr (sizeof(T) == 4)
                store(out + l, _mm512_maskz_fmadd_round_ps(kAll16, load(a + l), load(b + l),
                                                           load(c + l), mode));
            else
                store(out + l, _mm512_maskz_fmadd_round_pd(kAll8, load(a + l), load(b + l),
                                                           load(c + l), mode));
        }
    });
#else
    for (unsigned l = 0; l < kWarpSize; ++l) out[l] = numerics::fma(a[l], b[l], c[l], rounding);
#endif
}

}  // namespace lockstep::sass
