// SPDX-License-Identifier: Apache-2.0
// Lane loops: how semantics compute on rows. Each loop body sees one lane number and must not read
// another lane of its own destination, so that the compiler can vectorise it and write in place.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "isa/sass/row.h"
#include "isa/sass/state.h"

namespace lockstep::sass {

/// Copies the lanes of mask from one row to another.
inline void copy_lanes(Row& to, const Row& from, std::uint32_t mask) {
#if defined(__AVX512F__)
    _mm512_mask_store_epi32(to.lane, static_cast<__mmask16>(mask), _mm512_load_si512(from.lane));
    _mm512_mask_store_epi32(to.lane + 16, static_cast<__mmask16>(mask >> 16),
                            _mm512_load_si512(from.lane + 16));
#else
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint32_t take = 0u - (mask >> l & 1u);
        to.lane[l] = (to.lane[l] & ~take) | (from.lane[l] & take);
    }
#endif
}

/// d[l] = f(l) for the lanes of warp.mask; f returns std::uint32_t.
template <typename F>
inline void write_lanes(Warp& warp, Operand d, F&& f) {
    Row& out = warp.row(d);
    if (warp.mask == kAllLanes) [[likely]] {
#pragma GCC ivdep
        for (unsigned l = 0; l < kWarpSize; ++l) out.lane[l] = f(l);
    } else {
        Row result;
        for (unsigned l = 0; l < kWarpSize; ++l) result.lane[l] = f(l);
        copy_lanes(out, result, warp.mask);
    }
}

/// The same for a 64-bit result in the rows d and d + 1.
template <typename F>
inline void write_lanes64(Warp& warp, Operand d, F&& f) {
    Row* out = &warp.row(d);
    Row low, high;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint64_t value = f(l);
        low.lane[l] = static_cast<std::uint32_t>(value);
        high.lane[l] = static_cast<std::uint32_t>(value >> 32);
    }
    copy_lanes(out[0], low, warp.mask);
    copy_lanes(out[1], high, warp.mask);
}

/// Reads a 64-bit lane from rows r[0] (low) and r[1] (high).
inline std::uint64_t lane64(const Row* r, unsigned l) {
    return r[0].lane[l] | std::uint64_t{r[1].lane[l]} << 32;
}

/// Bit l of the result tells whether lane l of the row is not zero.
inline std::uint32_t nonzero_mask(const Row& row) {
#if defined(__AVX512F__)
    const auto half = [&](const std::uint32_t* p) {
        const __m512i v = _mm512_load_si512(p);
        return static_cast<std::uint32_t>(_mm512_test_epi32_mask(v, v));
    };
    return half(row.lane) | half(row.lane + 16) << 16;
#elif defined(__AVX2__)
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const __m256i v = _mm256_load_si256(reinterpret_cast<const __m256i*>(row.lane) + i);
        const __m256i is_zero = _mm256_cmpeq_epi32(v, _mm256_setzero_si256());
        const auto zero =
            static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is_zero)));
        mask |= (zero ^ 0xffu) << (8 * i);
    }
    return mask;
#else
    std::uint32_t mask = 0;
    for (unsigned l = 0; l < kWarpSize; ++l) mask |= std::uint32_t{row.lane[l] != 0} << l;
    return mask;
#endif
}

/// Bit l of the result is f(l), for all 32 lanes; f returns bool.
template <typename F>
inline std::uint32_t lane_mask(F&& f) {
    Row flag;
    for (unsigned l = 0; l < kWarpSize; ++l) flag.lane[l] = f(l) ? kAllLanes : 0u;
    return nonzero_mask(flag);
}

/// All lanes of a row become one value.
inline void broadcast(Row& row, std::uint32_t value) {
    for (unsigned l = 0; l < kWarpSize; ++l) row.lane[l] = value;
}

/// Calls f(l) for each lane of mask, in ascending order.
template <typename F>
inline void for_each_lane(std::uint32_t mask, F&& f) {
    for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

inline float as_float(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
inline std::uint32_t as_bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
inline double as_double(std::uint64_t bits) {
    return std::bit_cast<double>(bits);
}
inline std::uint64_t as_bits(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

}  // namespace lockstep::sass
