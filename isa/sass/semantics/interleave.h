// SPDX-License-Identifier: Apache-2.0
// Between memory, where the 2 or 4 words of a lane lie together, and rows, where the lanes of a
// word do. Compilers make a poor job of these transpositions, and vector loads and stores live of
// them, so they are written out for AVX-512.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

#if defined(__AVX512F__)

inline __m512i load_words(const void* p) {
    return _mm512_loadu_si512(p);
}
inline void store_words(void* p, __m512i value) {
    _mm512_storeu_si512(p, value);
}

inline __m512i lower_halves(__m512i a, __m512i b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}
inline __m512i upper_halves(__m512i a, __m512i b) {
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

inline void load_interleaved2(Row* d, const std::byte* p) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    for (unsigned half = 0; half < 2; ++half) {
        const __m512i a = load_words(p + 128 * half), b = load_words(p + 128 * half + 64);
        store_words(d[0].lane + 16 * half, _mm512_permutex2var_epi32(a, even, b));
        store_words(d[1].lane + 16 * half, _mm512_permutex2var_epi32(a, odd, b));
    }
}

inline void store_interleaved2(const Row* b, std::byte* p) {
    const __m512i first = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    for (unsigned half = 0; half < 2; ++half) {
        const __m512i low = load_words(b[0].lane + 16 * half);
        const __m512i high = load_words(b[1].lane + 16 * half);
        store_words(p + 128 * half, _mm512_permutex2var_epi32(low, first, high));
        store_words(p + 128 * half + 64, _mm512_permutex2var_epi32(low, second, high));
    }
}

inline void load_interleaved4(Row* d, const std::byte* p) {
    // Words 0 and 1 (then 2 and 3) of eight lanes, one word after the other.
    const __m512i words01 =
        _mm512_set_epi32(29, 25, 21, 17, 13, 9, 5, 1, 28, 24, 20, 16, 12, 8, 4, 0);
    const __m512i words23 = _mm512_add_epi32(words01, _mm512_set1_epi32(2));
    for (unsigned half = 0; half < 2; ++half) {
        const std::byte* const from = p + 256 * half;
        const __m512i z0 = load_words(from), z1 = load_words(from + 64);
        const __m512i z2 = load_words(from + 128), z3 = load_words(from + 192);
        const __m512i a01 = _mm512_permutex2var_epi32(z0, words01, z1);
        const __m512i a23 = _mm512_permutex2var_epi32(z0, words23, z1);
        const __m512i b01 = _mm512_permutex2var_epi32(z2, words01, z3);
        const __m512i b23 = _mm512_permutex2var_epi32(z2, words23, z3);
        store_words(d[0].lane + 16 * half, lower_halves(a01, b01));
        store_words(d[1].lane + 16 * half, upper_halves(a01, b01));
        store_words(d[2].lane + 16 * half, lower_halves(a23, b23));
        store_words(d[3].lane + 16 * half, upper_halves(a23, b23));
    }
}

inline void store_interleaved4(const Row* b, std::byte* p) {
    const __m512i lanes03 =
        _mm512_set_epi32(27, 19, 11, 3, 26, 18, 10, 2, 25, 17, 9, 1, 24, 16, 8, 0);
    const __m512i lanes47 = _mm512_add_epi32(lanes03, _mm512_set1_epi32(4));
    for (unsigned half = 0; half < 2; ++half) {
        std::byte* const to = p + 256 * half;
        const __m512i r0 = load_words(b[0].lane + 16 * half);
        const __m512i r1 = load_words(b[1].lane + 16 * half);
        const __m512i r2 = load_words(b[2].lane + 16 * half);
        const __m512i r3 = load_words(b[3].lane + 16 * half);
        const __m512i a01 = lower_halves(r0, r1);
        const __m512i a23 = lower_halves(r2, r3);
        const __m512i b01 = upper_halves(r0, r1);
        const __m512i b23 = upper_halves(r2, r3);
        store_words(to, _mm512_permutex2var_epi32(a01, lanes03, a23));
        store_words(to + 64, _mm512_permutex2var_epi32(a01, lanes47, a23));
        store_words(to + 128, _mm512_permutex2var_epi32(b01, lanes03, b23));
        store_words(to + 192, _mm512_permutex2var_epi32(b01, lanes47, b23));
    }
}

#else

template <unsigned kWords>
inline void load_interleaved(Row* d, const std::byte* p) {
    for (unsigned l = 0; l < kWarpSize; ++l)
        for (unsigned i = 0; i < kWords; ++i)
            std::memcpy(&d[i].lane[l], p + (l * kWords + i) * 4, 4);
}
template <unsigned kWords>
inline void store_interleaved(const Row* b, std::byte* p) {
    for (unsigned l = 0; l < kWarpSize; ++l)
        for (unsigned i = 0; i < kWords; ++i)
            std::memcpy(p + (l * kWords + i) * 4, &b[i].lane[l], 4);
}
inline void load_interleaved2(Row* d, const std::byte* p) {
    load_interleaved<2>(d, p);
}
inline void store_interleaved2(const Row* b, std::byte* p) {
    store_interleaved<2>(b, p);
}
inline void load_interleaved4(Row* d, const std::byte* p) {
    load_interleaved<4>(d, p);
}
inline void store_interleaved4(const Row* b, std::byte* p) {
    store_interleaved<4>(b, p);
}

#endif

}  // namespace lockstep::sass
