// SPDX-License-Identifier: Apache-2.0
// Significands are multiplied and added with exponents near 0, and the result takes its exponent
// back: by the host where it is normal, else by shifting its digits and rounding these. Terms that
// are much smaller than the other count by their sign alone, whatever their exponent.
#include "isa/sass/semantics/scaled_double.h"

#include "isa/sass/semantics/directed_rows.h"
#include "sim/numerics/fp32.h"

namespace lockstep::sass {

#if defined(__AVX512F__) && defined(__AVX512DQ__)

namespace {

constexpr double kFarBelow = -200;  // more than the digits of a product and of its rounding
constexpr double kLeastNormal = -1022;
constexpr int kDigits = 52;  // after the point

/// x = significand * 2^exponent; zeros have the exponent -infinity.
struct Parts {
    __m512d significand, exponent;
    explicit Parts(__m512d x)
        : significand(_mm512_mask_mov_pd(
              _mm512_maskz_getmant_pd(kAll8, x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src),
              _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_EQ_OQ), x)),
          exponent(_mm512_maskz_getexp_pd(kAll8, x)) {}
};

__mmask8 finite(__m512d x) {
    constexpr int kInfinitiesAndNans = 0x01 | 0x08 | 0x10 | 0x80;
    return static_cast<__mmask8>(~_mm512_fpclass_pd_mask(x, kInfinitiesAndNans));
}

/// A result below the normal numbers. `truncated`, not zero, is its significand rounded towards
/// zero, `inexact` tells where that lost something.
template <int mode>
__m512d round_subnormal(__m512d truncated, __m512d exponent, __mmask8 inexact) {
    constexpr double kAll = kDigits + 8;  // nothing is left
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i bits = _mm512_castpd_si512(truncated);
    const __m512i sign = _mm512_and_epi64(bits, _mm512_set1_epi64(1ll << 63));
    const __m512i implicit = _mm512_set1_epi64(1ll << kDigits);
    const __m512i digits =
        _mm512_or_epi64(_mm512_and_epi64(bits, _mm512_sub_epi64(implicit, one)), implicit);
    const __m512i shift = _mm512_maskz_cvttpd_epi64(
        kAll8, _mm512_maskz_min_pd(kAll8, _mm512_set1_pd(kAll),
                                   _mm512_sub_pd(_mm512_set1_pd(kLeastNormal), exponent)));
    const __m512i kept = _mm512_maskz_srlv_epi64(kAll8, digits, shift);
    const __m512i unit = _mm512_maskz_sllv_epi64(kAll8, one, shift);
    const __m512i half = _mm512_maskz_srli_epi64(kAll8, unit, 1);
    const __m512i lost = _mm512_and_epi64(digits, _mm512_sub_epi64(unit, one));
    const __mmask8 loses = static_cast<__mmask8>(inexact | _mm512_test_epi64_mask(lost, lost));
    const __mmask8 negative = _mm512_test_epi64_mask(sign, sign);
    __mmask8 up = 0;
    if constexpr ((mode & 3) == _MM_FROUND_TO_NEAREST_INT) {
        const __mmask8 odd = _mm512_test_epi64_mask(kept, one);
        up = static_cast<__mmask8>(_mm512_cmpgt_epu64_mask(lost, half) |
                                   (_mm512_cmpeq_epu64_mask(lost, half) & (inexact | odd)));
    } else if constexpr ((mode & 3) == _MM_FROUND_TO_NEG_INF) {
        up = static_cast<__mmask8>(loses & negative);
    } else if constexpr ((mode & 3) == _MM_FROUND_TO_POS_INF) {
        up = static_cast<__mmask8>(loses & ~negative);
    }
    return _mm512_castsi512_pd(_mm512_or_epi64(sign, _mm512_mask_add_epi64(kept, up, kept, one)));
}

template <int mode>
__m512d fma_scaled(__m512d a, __m512d b, __m512d c) {
    const Parts x(a), y(b), z(c);
    const __m512d of_product = _mm512_add_pd(x.exponent, y.exponent);
    // All of them zero: any exponent will do.
    const __m512d exponent = _mm512_maskz_max_pd(
        kAll8, _mm512_maskz_max_pd(kAll8, of_product, z.exponent), _mm512_set1_pd(-5000));
    const auto scaled = [&](__m512d significand, __m512d own) {
        return _mm512_maskz_scalef_pd(
            kAll8, significand,
            _mm512_maskz_max_pd(kAll8, _mm512_sub_pd(own, exponent), _mm512_set1_pd(kFarBelow)));
    };
    const __m512d factor = scaled(x.significand, of_product);
    const __m512d addend = scaled(z.significand, z.exponent);
    constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    constexpr int kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    const __m512d low = _mm512_maskz_fmadd_round_pd(kAll8, factor, y.significand, addend, kDown);
    const __m512d high = _mm512_maskz_fmadd_round_pd(kAll8, factor, y.significand, addend, kUp);
    const __m512d rounded = _mm512_maskz_fmadd_round_pd(kAll8, factor, y.significand, addend, mode);
    const __mmask8 inexact = _mm512_cmp_pd_mask(low, high, _CMP_NEQ_OQ);
    const __m512d truncated =
        _mm512_mask_mov_pd(high, _mm512_cmp_pd_mask(low, _mm512_setzero_pd(), _CMP_GE_OQ), low);
    const __m512d own = _mm512_add_pd(_mm512_maskz_getexp_pd(kAll8, truncated), exponent);
    const __mmask8 zero = _mm512_cmp_pd_mask(rounded, _mm512_setzero_pd(), _CMP_EQ_OQ);
    const __mmask8 subnormal = static_cast<__mmask8>(
        _mm512_cmp_pd_mask(own, _mm512_set1_pd(kLeastNormal), _CMP_LT_OQ) & ~zero);
    const __mmask8 normal = static_cast<__mmask8>(~(subnormal | zero));
    const __m512d result = _mm512_mask_scalef_round_pd(rounded, normal, rounded, exponent, mode);
    return _mm512_mask_mov_pd(result, subnormal, round_subnormal<mode>(truncated, own, inexact));
}

}  // namespace

void scaled_fma(double* out, const double* a, const double* b, const double* c,
                numerics::Rounding rounding) {
    with_rounding(rounding, [&]<int mode>() {
        for (unsigned l = 0; l < kWarpSize; l += 8) {
            const __m512d x = load(a + l), y = load(b + l), z = load(c + l);
            const auto usual = static_cast<__mmask8>(finite(x) & finite(y) & finite(z));
            const __m512d others =
                _mm512_maskz_fmadd_round_pd(static_cast<__mmask8>(~usual), x, y, z, mode);
            store(out + l, _mm512_mask_mov_pd(others, usual, fma_scaled<mode>(x, y, z)));
        }
    });
}

#else

void scaled_fma(double* out, const double* a, const double* b, const double* c,
                numerics::Rounding rounding) {
    for (unsigned l = 0; l < kWarpSize; ++l) out[l] = numerics::fma(a[l], b[l], c[l], rounding);
}

#endif

}  // namespace lockstep::sass
