// SPDX-License-Identifier: Apache-2.0
// Exponents are bytes: sums saturate at that of a zero, below all others. Where a largest exponent
// is so small that it may be a zero's, and the accumulator's is smaller still, nothing is known:
// the general way decides. An accumulator is aligned by its exponent bits, as there.
#include "isa/sass/tensor_core/narrow_product.h"

#include "sim/error/error.h"

#if LOCKSTEP_NARROW_PRODUCT

#include <immintrin.h>

#include <cstring>

#include "isa/sass/tensor_core/decoded_tile.h"
#include "isa/sass/tensor_core/lanes.h"
#include "isa/sass/tensor_core/round_sums.h"

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

struct Accumulators {
    __m512i significand;  // bits of a number in [1, 2)
    __m512i exponent;     // of a zero far below all
    __mmask16 unusual;    // infinity, NaN, subnormal
};

template <AccumulatorType type>
Accumulators load_accumulators(const std::uint32_t* c) {
    if constexpr (type == AccumulatorType::kFp16) {
        DecodedColumn column;
        column.decode(true, c);
        return {_mm512_castps_si512(_mm512_load_ps(column.significand)),
                _mm512_load_si512(column.exponent),
                static_cast<__mmask16>(column.special ? 0xffff : 0)};
    } else {
        const __m512i bits = _mm512_loadu_si512(c);
        const __m512i biased = biased_exponent<8, 23>(bits);
        const __mmask16 zero = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7fffffff));
        const __mmask16 unusual = _mm512_testn_epi32_mask(biased, biased) |
                                  _mm512_cmpeq_epi32_mask(biased, _mm512_set1_epi32(255));
        // (bits & 0x807fffff) | 0x3f800000
        const __m512i significand =
            _mm512_ternarylogic_epi32(bits, _mm512_set1_epi32(static_cast<int>(0x807fffff)),
                                      _mm512_set1_epi32(0x3f800000), 0xea);
        return {significand,
                _mm512_mask_set1_epi32(_mm512_sub_epi32(biased, _mm512_set1_epi32(127)), zero,
                                       kZeroExponent),
                static_cast<__mmask16>(unusual & ~zero)};
    }
}

/// How the products of a column and its accumulators are aligned, by row.
struct Alignment {
    __m512 unit;         // the power of two that makes the last bit kept one
    __m512i scale;       // the exponent of that bit
    __m512i addend;      // the accumulators in such bits
    __mmask16 unusual;   // the accumulator is
    __mmask16 doubtful;  // the largest product may be a zero's, and it matters
};

template <AccumulatorType type>
Alignment align(const DotProductRule& rule, __m512i of_products, const std::uint32_t* c) {
    constexpr int kLeast = -64, kMost = 125;  // of the exponent of the power of two that aligns
    const Accumulators sum = load_accumulators<type>(c);
    // As small as that of a zero's product: it counts for nothing where the accumulator's is
    // larger, or where it is a zero's indeed.
    const __mmask16 unsure = _mm512_cmple_epi32_mask(of_products, _mm512_set1_epi32(kNarrowUnsure));
    const __m512i known = _mm512_mask_set1_epi32(of_products, unsure, kZeroExponent);
    const __m512i largest = _mm512_max_epi32(_mm512_max_epi32(sum.exponent, known),
                                             _mm512_set1_epi32(rule.min_exponent));
    const __m512i scale = _mm512_sub_epi32(largest, _mm512_set1_epi32(rule.fraction_bits));
    const __m512i base = _mm512_sub_epi32(_mm512_setzero_si512(), scale);
    const __m512i limited = _mm512_min_epi32(_mm512_max_epi32(base, _mm512_set1_epi32(kLeast)),
                                             _mm512_set1_epi32(kMost));
    const __mmask16 matters = _mm512_mask_cmpgt_epi32_mask(unsure, of_products, sum.exponent) |
                              _mm512_mask_cmpgt_epi32_mask(unsure, base, _mm512_set1_epi32(kMost));
    const __m512i shift = _mm512_max_epi32(_mm512_sub_epi32(sum.exponent, scale),
                                           _mm512_set1_epi32(-40));  // less than one anyway
    return {_mm512_castsi512_ps(
                _mm512_slli_epi32(_mm512_add_epi32(limited, _mm512_set1_epi32(127)), 23)),
            scale,
            _mm512_cvttps_epi32(_mm512_castsi512_ps(
                _mm512_add_epi32(sum.significand, _mm512_slli_epi32(shift, 23)))),
            sum.unusual, matters};
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

/// Several columns at once, so that a value of A is loaded once for all of them.
template <int width, AccumulatorType type, int count>
void accumulate_columns(const Group& group, const __m512i* a_exponents, int column,
                        std::uint32_t (*c)[16]) {
    Alignment aligned[count];
    const float* b[count];
    __m512i products[count];
    for (int n = 0; n < count; ++n) {
        const int at = (column + n) * group.depth;
        aligned[n] = align<type>(
            group.rule, largest_exponents<width>(a_exponents, group.b_exponent + at), c[n]);
        b[n] = group.b + at;
        products[n] = _mm512_setzero_si512();
    }
    for (int k = 0; k < width; ++k) {
        const __m512 value = _mm512_load_ps(group.a + k * 16);
        for (int n = 0; n < count; ++n) {
            const __m512 product = _mm512_mul_ps(value, _mm512_set1_ps(b[n][k]));
            products[n] = _mm512_add_epi32(
                products[n], _mm512_cvttps_epi32(_mm512_mul_ps(product, aligned[n].unit)));
        }
    }
    for (int n = 0; n < count; ++n) {
        alignas(64) std::uint32_t out[16];
        const Ints beyond = round_usual_sums(type, reinterpret<Ints>(products[n]),
                                             reinterpret<Ints>(aligned[n].addend),
                                             reinterpret<Ints>(aligned[n].scale), out);
        __mmask16 fails = aligned[n].unusual;
        if (aligned[n].doubtful != 0) [[unlikely]]
            fails |= aligned[n].doubtful & rows_with_products<width>(group.a, b[n]);
        const auto lanes = reinterpret<__m512i>(beyond);
        if ((fails | _mm512_test_epi32_mask(lanes, lanes)) != 0) [[unlikely]]
            group.otherwise(group.context, column + n, group.first);
        else
            _mm512_storeu_si512(c[n], _mm512_load_si512(out));
    }
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
