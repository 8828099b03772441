// SPDX-License-Identifier: Apache-2.0
// Arithmetic on rows of packed fp16 or bf16, each result rounded once to nearest even, NaN results
// 0x7fff. Hosts with AVX512-FP16 do fp16 in one instruction a half row. Elsewhere the exact
// product is added in a wider type and rounded to odd, so that the rounding to 16 bits is the
// only one that counts (the wider type has at least two digits more than the result).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "isa/sass/semantics/half_operands.h"
#include "isa/sass/semantics/lanes.h"
#include "isa/sass/semantics/round_to_odd.h"
#include "isa/sass/semantics/subnormal_watch.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"

namespace lockstep::sass {

/// The type in which a product of two halves is exact.
template <HalfType type>
using Wide = std::conditional_t<type == HalfType::kF16, float, double>;

template <HalfType type>
inline Wide<type> widen(std::uint32_t half) {
    const auto bits = static_cast<std::uint16_t>(half);
    if constexpr (type == HalfType::kF16)
        return numerics::fp16_to_fp32(bits);
    else
        return numerics::bf16_to_fp64(bits);
}

template <HalfType type, typename T>
inline std::uint32_t narrow(T value) {
    using numerics::Rounding;
    if constexpr (type == HalfType::kF16)
        return numerics::encode<numerics::Fp16Format>(value, Rounding::kNearestEven);
    else
        return numerics::encode<numerics::Bf16Format>(value, Rounding::kNearestEven);
}

/// out = a * b + c in each half, in the host's wider types.
template <HalfType type>
inline void fma_halves_wide(Row& out, const Row& a, const Row& b, const Row& c) {
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const auto one = [&](unsigned shift) {
            const auto x = widen<type>(a.lane[l] >> shift), y = widen<type>(b.lane[l] >> shift),
                       z = widen<type>(c.lane[l] >> shift);
            return narrow<type>(add_to_odd(x * y, z));
        };
        out.lane[l] = one(16) << 16 | one(0);
    }
}

/// out = a + b in each half. The sum in fp32 of two numbers of at most 11 digits, rounded again, is
/// correctly rounded.
template <HalfType type>
inline void add_halves_wide(Row& out, const Row& a, const Row& b) {
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const auto one = [&](unsigned shift) {
            return narrow<type>(static_cast<float>(widen<type>(a.lane[l] >> shift)) +
                                static_cast<float>(widen<type>(b.lane[l] >> shift)));
        };
        out.lane[l] = one(16) << 16 | one(0);
    }
}

/// out = a * b in each half: the wide product is exact.
template <HalfType type>
inline void multiply_halves_wide(Row& out, const Row& a, const Row& b) {
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const auto one = [&](unsigned shift) {
            return narrow<type>(widen<type>(a.lane[l] >> shift) * widen<type>(b.lane[l] >> shift));
        };
        out.lane[l] = one(16) << 16 | one(0);
    }
}

#if defined(__AVX512FP16__) && defined(__AVX512BW__)

template <typename F>
inline void apply_fp16(Row& out, F&& f) {
    const __m512i nan = _mm512_set1_epi16(0x7fff);
    for (unsigned l = 0; l < kWarpSize; l += 16) {
        const __m512h result = f(l);
        const __mmask32 nans = _mm512_cmp_ph_mask(result, result, _CMP_UNORD_Q);
        _mm512_store_si512(out.lane + l,
                           _mm512_mask_mov_epi16(_mm512_castph_si512(result), nans, nan));
    }
}
inline __m512h load_fp16(const Row& row, unsigned l) {
    return _mm512_castsi512_ph(_mm512_load_si512(row.lane + l));
}

#endif

/// bf16 in fp32, which vectorises better than fp64: true where every product is exact there, so
/// that the result counts.
inline bool fma_bf16_narrow(Row& out, const Row& a, const Row& b, const Row& c) {
    std::uint32_t inexact = 0;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const auto one = [&](unsigned shift) {
            const auto part = [&](const Row& row) {
                return std::bit_cast<float>(row.lane[l] >> shift << 16);
            };
            const float x = part(a), y = part(b), product = x * y;
            const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(product) & 0x7fffffffu;
            // 16 digits are exact from 2^-100 on; zero is where a factor is, infinity never.
            const bool tiny = magnitude < (127u - 100) << 23, huge = magnitude >= 254u << 23;
            inexact |= (tiny && x != 0.0f && y != 0.0f) || huge ? 1u : 0u;
            return narrow<HalfType::kBf16>(add_to_odd(product, part(c)));
        };
        const std::uint32_t low = one(0);
        out.lane[l] = one(16) << 16 | low;
    }
    return inexact == 0;
}

template <HalfType type>
inline void fma_halves(Row& out, const Row& a, const Row& b, const Row& c) {
#if defined(__AVX512FP16__) && defined(__AVX512BW__)
    if constexpr (type == HalfType::kF16)
        return apply_fp16(out, [&](unsigned l) {
            return _mm512_fmadd_ph(load_fp16(a, l), load_fp16(b, l), load_fp16(c, l));
        });
#endif
    if constexpr (type == HalfType::kBf16)
        if (!subnormal_watch.is_on() && fma_bf16_narrow(out, a, b, c)) [[likely]]
            return;
    fma_halves_wide<type>(out, a, b, c);
}

template <HalfType type>
inline void add_halves(Row& out, const Row& a, const Row& b) {
#if defined(__AVX512FP16__) && defined(__AVX512BW__)
    if constexpr (type == HalfType::kF16)
        return apply_fp16(
            out, [&](unsigned l) { return _mm512_add_ph(load_fp16(a, l), load_fp16(b, l)); });
#endif
    add_halves_wide<type>(out, a, b);
}

template <HalfType type>
inline void multiply_halves(Row& out, const Row& a, const Row& b) {
#if defined(__AVX512FP16__) && defined(__AVX512BW__)
    if constexpr (type == HalfType::kF16)
        return apply_fp16(
            out, [&](unsigned l) { return _mm512_mul_ph(load_fp16(a, l), load_fp16(b, l)); });
#endif
    multiply_halves_wide<type>(out, a, b);
}

}  // namespace lockstep::sass
