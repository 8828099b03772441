// SPDX-License-Identifier: Apache-2.0
// From the sum of a group, (products + addend) * 2^scale, to the bits of the accumulator.
#pragma once

#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "isa/sass/tensor_core/lanes.h"
#include "isa/sass/tensor_core/rule.h"
#include "sim/numerics/fp16.h"

namespace lockstep::sass {

/// A sum that becomes zero in fp16 is +0 whatever its sign was.
inline uint32_t plus_zero(uint32_t half) {
    return half == 0x8000 ? 0 : half;
}

#if defined(__AVX512F__)
inline __m512i round_to_halves(__m512 sums) {
    const __m256i halves = _mm512_cvtps_ph(sums, _MM_FROUND_TO_NEAREST_INT);
    const __m256i minus_zero = _mm256_cmpeq_epi16(halves, _mm256_set1_epi16(-0x8000));
    return _mm512_cvtepu16_epi32(_mm256_andnot_si256(minus_zero, halves));
}
#endif

/// Rounds kLanes sums. Returns the lanes (all ones) whose result is not valid because fp32
/// arithmetic does not reach: then round_any_sums is to be called for the group.
inline Ints round_usual_sums(AccumulatorType type, Ints products, Ints addend, Ints scale,
                             uint32_t* out) {
    constexpr int32_t kLargestSum = 0x7b000000;  // with the addend, still less than 2^31
    constexpr int32_t kSmallestScale = -110;     // results stay normal numbers
    constexpr int32_t kLargestScale = 90;
    const Ints sum = products + addend;
    const Ints unusual = (products > kLargestSum) | (products < -kLargestSum) |
                         (scale > kLargestScale) | ((scale < kSmallestScale) & (sum != 0));

#if defined(__AVX512F__)
    const Floats truncated = reinterpret<Floats>(_mm512_cvt_roundepi32_ps(
        reinterpret<__m512i>(sum), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
    const Ints error = truncate(truncated) - sum;
    Ints bits = reinterpret<Ints>(truncated);
#else
    // Conversion rounds to nearest; one step back where that went away from zero truncates.
    const Floats nearest = to_floats(sum);
    const Ints error = truncate(nearest) - sum;
    const Ints away = sum < 0 ? error < 0 : error > 0;
    Ints bits = reinterpret<Ints>(nearest) + away;
#endif
    if (type == AccumulatorType::kFp16) {
        bits |= (error != 0) & 1;  // what was dropped, for the rounding to fp16 that follows
    } else if (type == AccumulatorType::kE8m13) {
        bits &= ~0x3ff;
    }
    const Ints clamped = larger(scale, Ints{} + kSmallestScale);
    const Floats unit = reinterpret<Floats>((clamped + 127) << 23);
    const Floats result = reinterpret<Floats>(bits) * unit;
    if (type == AccumulatorType::kFp16) {
#if defined(__AVX512F__)
        _mm512_storeu_si512(out, round_to_halves(reinterpret<__m512>(result)));
#else
        float values[kLanes];
        store(values, result);
        for (int lane = 0; lane < kLanes; ++lane)
            out[lane] = plus_zero(numerics::fp32_to_fp16(values[lane]));
#endif
    } else {
        store(out, result);
    }
    return unusual;
}

/// Rounds the 16 sums of a group, whatever they are.
void round_any_sums(AccumulatorType type, const int32_t* products, const int32_t* addend,
                    const int32_t* scale, uint32_t* out);

}  // namespace lockstep::sass
