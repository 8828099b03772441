// SPDX-License-Identifier: Apache-2.0
// Exponents are bytes: sums saturate at that of a zero, below all others. Where the largest
// exponent of products and accumulator is so small that it may be a zero's, or so large that the
// sum may be beyond fp32, the general way decides.
#include "isa/sass/tensor_core/narrow_product.h"

#include "isa/sass/tensor_core/round_sums.h"
#include "sim/error/error.h"

#if LOCKSTEP_NARROW_PRODUCT

#include <immintrin.h>

#include <cstring>

namespace lockstep::sass {
namespace {

/// Numbers of which 16 lie in a vector, as fp32, and their fields.
struct Lanes {
    __m512 value;
    __m512i exponent;  // of subnormals the smallest
    __mmask16 zero;
    __mmask16 special;  // infinity or NaN; of wide formats subnormals too, which are not narrow
};

template <int exponent_bits, int mantissa_bits>
__m512i biased_exponent(__m512i bits) {
    return _mm512_and_si512(_mm512_srli_epi32(bits, mantissa_bits),
                            _mm512_set1_epi32((1 << exponent_bits) - 1));
}

/// A format whose bits, shifted, are those of an fp32 number.
template <int shift, int kept_bits>
Lanes wide(__m512i bits) {
    const __m512i word =
        _mm512_and_si512(_mm512_slli_epi32(bits, shift),
                         _mm512_set1_epi32(static_cast<int>(~0u << (32 - kept_bits))));
    const __m512i biased = biased_exponent<8, 23>(word);
    return {_mm512_castsi512_ps(word), _mm512_sub_epi32(biased, _mm512_set1_epi32(127)),
            _mm512_testn_epi32_mask(word, _mm512_set1_epi32(0x7fffffff)), 0};
}

template <int exponent_bits, int mantissa_bits, bool has_infinity>
Lanes small(__m512i bits) {
    constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
    constexpr int kMagnitude = (1 << (exponent_bits + mantissa_bits)) - 1;
    constexpr int kFirstSpecial =
        has_infinity ? kMagnitude & ~((1 << mantissa_bits) - 1) : kMagnitude;
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(kMagnitude));
    const __m512i biased =
        _mm512_max_epi32(_mm512_srli_epi32(magnitude, mantissa_bits), _mm512_set1_epi32(1));
    // As fp16, with a bias of its own: conversion handles subnormals.
    constexpr int kUp = 10 - mantissa_bits;
    const __m512i half =
        _mm512_or_si512(_mm512_slli_epi32(magnitude, kUp),
                        _mm512_slli_epi32(_mm512_andnot_si512(_mm512_set1_epi32(kMagnitude), bits),
                                          15 - exponent_bits - mantissa_bits));
    const __m512 value = _mm512_mul_ps(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(half)),
                                       _mm512_set1_ps(static_cast<float>(1 << (15 - kBias))));
    return {value, _mm512_sub_epi32(biased, _mm512_set1_epi32(kBias)),
            _mm512_testn_epi32_mask(magnitude, magnitude),
            _mm512_cmpge_epi32_mask(magnitude, _mm512_set1_epi32(kFirstSpecial))};
}

template <typename Format>
bool decode_all(int count, const std::uint32_t* bits, float* value, std::int8_t* exponent,
                Format&& format) {
    __mmask16 beyond = 0;
    for (int at = 0; at < count; at += 16) {
        const Lanes lanes = format(_mm512_loadu_si512(bits + at));
        const __mmask16 out_of_range =
            _mm512_cmpgt_epi32_mask(lanes.exponent, _mm512_set1_epi32(kNarrowLargest)) |
            _mm512_cmplt_epi32_mask(lanes.exponent, _mm512_set1_epi32(kNarrowSmallest));
        beyond |= lanes.special | static_cast<__mmask16>(out_of_range & ~lanes.zero);
        _mm512_store_ps(value + at, lanes.value);
        const __m512i byte = _mm512_mask_set1_epi32(lanes.exponent, lanes.zero, kNarrowZero);
        _mm_store_si128(reinterpret_cast<__m128i*>(exponent + at), _mm512_cvtepi32_epi8(byte));
    }
    return beyond == 0;
}

/// The largest exponent of `width` products in each of 16 rows. a: [k / 4], four rows' worth of 16
/// bytes each; b: `width` bytes.
template <int width>
__m512i largest_exponents(const __m512i* a, const std::int8_t* b) {
    const __m512i kEach =
        _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
                         0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0, 0);
    __m512i largest = _mm512_set1_epi8(kNarrowZero);
    for (int k = 0; k < width; k += 4) {
        int four;
        std::memcpy(&four, b + k, sizeof four);
        const __m512i each = _mm512_shuffle_epi8(_mm512_set1_epi32(four), kEach);
        largest = _mm512_max_epi8(largest, _mm512_adds_epi8(a[k / 4], each));
    }
    const __m256i half =
        _mm256_max_epi8(_mm512_castsi512_si256(largest), _mm512_extracti64x4_epi64(largest, 1));
    return _mm512_cvtepi8_epi32(
        _mm_max_epi8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

/// Exponents of a group's largest term for which the sum is computed here, in fp32's field.
/// Beneath, a product may be a zero's, above, the sum may be; what c holds between is a normal
/// number or counts for nothing (subnormals lie beneath the last bit kept).
constexpr std::int32_t exponent_field(int exponent) {
    return (exponent + 127) * (1 << 23);
}
constexpr std::int32_t kLeastField = exponent_field(kNarrowUnsure + 1);
constexpr std::int32_t kMostField = exponent_field(2 * kNarrowLargest);

/// Accumulators as fp32, and the exponents by which they take part in the alignment.
template <AccumulatorType type>
struct Accumulators {
    __m512 value;
    __m512i field;

    explicit Accumulators(const std::uint32_t* c) {
        const __m512i bits = _mm512_loadu_si512(c);
        value = type == AccumulatorType::kFp16 ? _mm512_cvtph_ps(_mm512_cvtepi32_epi16(bits))
                                               : _mm512_castsi512_ps(bits);
        const __m512i word = _mm512_castps_si512(value);
        field = _mm512_and_si512(word, _mm512_set1_epi32(exponent_field(128)));
        if constexpr (type == AccumulatorType::kFp16)  // subnormals have the smallest
            field = _mm512_maskz_max_epi32(_mm512_test_epi32_mask(field, field), field,
                                           _mm512_set1_epi32(exponent_field(-14)));
    }
};

/// The sum as fp32, in units of the last bit kept, as the accumulator will have it.
template <AccumulatorType type>
__m512 truncated_sum(__m512i sum) {
    const __m512 truncated = _mm512_cvt_roundepi32_ps(sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m512i bits = _mm512_castps_si512(truncated);
    if constexpr (type == AccumulatorType::kE8m13)
        return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(~0x3ff)));
    if constexpr (type == AccumulatorType::kFp16) {
        // What was dropped, for the rounding to fp16 that follows.
        const __mmask16 inexact = _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(truncated), sum);
        return _mm512_castsi512_ps(_mm512_mask_or_epi32(bits, inexact, bits, _mm512_set1_epi32(1)));
    }
    return truncated;
}

/// The rows in which some product is not zero.
template <int width>
[[gnu::noinline]] __mmask16 rows_with_products(const float* a, const float* b) {
    __m512 any = _mm512_setzero_ps();
    for (int k = 0; k < width; ++k)
        any = _mm512_or_ps(any, _mm512_mul_ps(_mm512_load_ps(a + k * 16), _mm512_set1_ps(b[k])));
    const __m512i magnitude = _mm512_slli_epi32(_mm512_castps_si512(any), 1);
    return _mm512_test_epi32_mask(magnitude, magnitude);
}

/// A group of one tile: how A and B lie for it.
struct Group {
    const DotProductRule& rule;
    const float* a;  // [k][16 rows]
    const float* b;  // [column][depth]
    const std::int8_t* b_exponent;
    int depth;
    int first;  // k of the group
    NarrowFallback otherwise;
    void* context;
};

template <AccumulatorType type>
void store_sums(__m512 sums, std::uint32_t* c) {
    if constexpr (type == AccumulatorType::kFp16)
        _mm512_storeu_si512(c, round_to_halves(sums));
    else
        _mm512_storeu_ps(c, sums);
}

/// Whether a column is left to the general way: `field` is beyond the limits in some row. Rows of
/// zeros alone have sums of zero by any alignment, and get one here.
template <int width>
[[gnu::noinline]] bool is_beyond(const Group& group, const float* b, __m512 addend,
                                 __m512i& field) {
    const __m512i least = _mm512_set1_epi32(kLeastField);
    const __mmask16 above = _mm512_cmpgt_epi32_mask(field, _mm512_set1_epi32(kMostField));
    const __mmask16 beneath = _mm512_cmplt_epi32_mask(field, least);
    const __mmask16 has_addend = _mm512_cmpneq_ps_mask(addend, _mm512_setzero_ps());
    field = _mm512_max_epi32(field, least);
    return (above | (beneath & (has_addend | rows_with_products<width>(group.a, b)))) != 0;
}

/// Several columns at once, so that a value of A is loaded once for all of them.
template <int width, AccumulatorType type, int count>
void accumulate_columns(const Group& group, const __m512i* a_exponents, int column,
                        std::uint32_t (*c)[16]) {
    const float* b[count];
    __m512 addend[count], unit[count];
    __m512i field[count], sum[count];
    __m512i least = _mm512_set1_epi32(kLeastField), most = _mm512_set1_epi32(kMostField);
    for (int n = 0; n < count; ++n) {
        const int at = (column + n) * group.depth;
        b[n] = group.b + at;
        const Accumulators<type> accumulators(c[n]);
        addend[n] = accumulators.value;
        const __m512i of_products = _mm512_add_epi32(
            _mm512_slli_epi32(largest_exponents<width>(a_exponents, group.b_exponent + at), 23),
            _mm512_set1_epi32(exponent_field(0)));
        field[n] = _mm512_max_epi32(of_products, accumulators.field);
        least = _mm512_min_epi32(least, field[n]);
        most = _mm512_max_epi32(most, field[n]);
    }
    unsigned beyond = 0;  // a bit a column
    if ((_mm512_cmplt_epi32_mask(least, _mm512_set1_epi32(kLeastField)) |
         _mm512_cmpgt_epi32_mask(most, _mm512_set1_epi32(kMostField))) != 0) [[unlikely]] {
        for (int n = 0; n < count; ++n)
            beyond |= unsigned{is_beyond<width>(group, b[n], addend[n], field[n])} << n;
    }
    // The power of two by which the last bit kept becomes one.
    const __m512i unit_and_field = _mm512_set1_epi32(static_cast<std::int32_t>(
        (2u * 127 + static_cast<unsigned>(group.rule.fraction_bits)) << 23));
    for (int n = 0; n < count; ++n) {
        unit[n] = _mm512_castsi512_ps(_mm512_sub_epi32(unit_and_field, field[n]));
        sum[n] = _mm512_cvttps_epi32(_mm512_mul_ps(addend[n], unit[n]));
    }
    for (int k = 0; k < width; ++k) {
        const __m512 value = _mm512_load_ps(group.a + k * 16);
        for (int n = 0; n < count; ++n) {
            const __m512 product = _mm512_mul_ps(value, _mm512_set1_ps(b[n][k]));
            sum[n] = _mm512_add_epi32(sum[n], _mm512_cvttps_epi32(_mm512_mul_ps(product, unit[n])));
        }
    }
    // A sum of terms less than 2^27 that went beyond 2^31 shows as a number close to -2^31.
    const __m512i largest_sum = _mm512_set1_epi32(0x7b000000);
    __m512i magnitude = _mm512_setzero_si512();
    __m512 result[count];
    const __m512i field_less_one = _mm512_set1_epi32(group.rule.fraction_bits * (1 << 23));
    for (int n = 0; n < count; ++n) {
        magnitude = _mm512_max_epu32(magnitude, _mm512_abs_epi32(sum[n]));
        result[n] = _mm512_mul_ps(truncated_sum<type>(sum[n]),
                                  _mm512_castsi512_ps(_mm512_sub_epi32(field[n], field_less_one)));
    }
    if (beyond != 0 || _mm512_cmpgt_epu32_mask(magnitude, largest_sum) != 0) [[unlikely]] {
        for (int n = 0; n < count; ++n) {
            if ((beyond >> n & 1) != 0 ||
                _mm512_cmpgt_epu32_mask(_mm512_abs_epi32(sum[n]), largest_sum) != 0)
                group.otherwise(group.context, column + n, group.first);
            else
                store_sums<type>(result[n], c[n]);
        }
        return;
    }
    for (int n = 0; n < count; ++n) store_sums<type>(result[n], c[n]);
}

template <int width, AccumulatorType type>
void accumulate_group(const DotProductRule& rule, int depth, int first, int columns,
                      const NarrowOperand& a, const NarrowOperand& b, std::uint32_t (*c)[16],
                      NarrowFallback otherwise, void* context) {
    constexpr int kAtOnce = 4;
    const Group group{
        rule,   a.value + first * 16, b.value + first, b.exponent + first, depth, first, otherwise,
        context};
    __m512i exponents[width / 4];
    for (int k = 0; k < width; k += 4)
        exponents[k / 4] = _mm512_load_si512(a.exponent + (first + k) * 16);
    int column = 0;
    for (; column + kAtOnce <= columns; column += kAtOnce)
        accumulate_columns<width, type, kAtOnce>(group, exponents, column, c + column);
    for (; column < columns; ++column)
        accumulate_columns<width, type, 1>(group, exponents, column, c + column);
}

template <int width>
void accumulate_groups(const DotProductRule& rule, int depth, int columns, const NarrowOperand& a,
                       const NarrowOperand& b, std::uint32_t (*c)[16], NarrowFallback otherwise,
                       void* context) {
    const auto run = [&]<AccumulatorType type>() {
        for (int first = 0; first < depth; first += width)
            accumulate_group<width, type>(rule, depth, first, columns, a, b, c, otherwise, context);
    };
    switch (rule.accumulator) {
        case AccumulatorType::kFp32:
            return run.template operator()<AccumulatorType::kFp32>();
        case AccumulatorType::kFp16:
            return run.template operator()<AccumulatorType::kFp16>();
        case AccumulatorType::kE8m13:
            return run.template operator()<AccumulatorType::kE8m13>();
    }
}

}  // namespace

bool decode_narrow(TensorType type, int count, const std::uint32_t* bits, float* value,
                   std::int8_t* exponent) {
    switch (type) {
        case TensorType::kFp16:
            return decode_all(count, bits, value, exponent, small<5, 10, true>);
        case TensorType::kBf16:
            return decode_all(count, bits, value, exponent, wide<16, 16>);
        case TensorType::kTf32:
            return decode_all(count, bits, value, exponent, wide<0, 19>);
        case TensorType::kE4m3:
            return decode_all(count, bits, value, exponent, small<4, 3, false>);
        case TensorType::kE5m2:
            return decode_all(count, bits, value, exponent, small<5, 2, true>);
    }
    return false;
}

void accumulate_narrow(const DotProductRule& rule, int width, int depth, int columns,
                       const NarrowOperand& a, const NarrowOperand& b, std::uint32_t (*c)[16],
                       NarrowFallback otherwise, void* context) {
    switch (width) {
        case 4:
            return accumulate_groups<4>(rule, depth, columns, a, b, c, otherwise, context);
        case 8:
            return accumulate_groups<8>(rule, depth, columns, a, b, c, otherwise, context);
        case 16:
            return accumulate_groups<16>(rule, depth, columns, a, b, c, otherwise, context);
        case 32:
            return accumulate_groups<32>(rule, depth, columns, a, b, c, otherwise, context);
        default:
            LOCKSTEP_CHECK(false, "no dot product of {}", width);
    }
}

}  // namespace lockstep::sass

#else

namespace lockstep::sass {

bool decode_narrow(TensorType, int, const std::uint32_t*, float*, std::int8_t*) {
    return false;
}

void accumulate_narrow(const DotProductRule&, int, int, int, const NarrowOperand&,
                       const NarrowOperand&, std::uint32_t (*)[16], NarrowFallback, void*) {
    LOCKSTEP_CHECK(false, "no fast dot products on this host");
}

}  // namespace lockstep::sass

#endif
