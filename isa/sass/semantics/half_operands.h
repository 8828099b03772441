// SPDX-License-Identifier: Apache-2.0
// Sources of the packed half-precision instructions: two 16-bit numbers a register, a choice of
// halves, sign modifiers for both. Before sm_90 a source may be fp32 (.F32), which counts as its
// value truncated to fp16, in both halves: ptxas writes cvt.rz.f16.f32 (and no other rounding) as
// HADD2 R0, R2.F32, -RZ.H0_H0, and a sum, product or comparison of such a value as one instruction.
#pragma once

#include <bit>
#include <cstdint>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/lanes.h"
#include "sim/numerics/fp16.h"

namespace lockstep::sass {

/// Which halves a source gives to the result's (high, low) halves.
constexpr unsigned kH1H0 = 0, kHalvesOfF32 = 1, kH0H0 = 2, kH1H1 = 3;

/// One source's modifiers, 8 bits of Instruction::modifiers each: swizzle, negate, absolute, negate
/// the high half alone, flush subnormals.
struct HalfSource {
    static constexpr unsigned kBits = 8;
    static constexpr std::uint32_t kNegate = 4, kAbsolute = 8, kNegateHigh = 16;

    unsigned swizzle;
    std::uint32_t keep;
    std::uint32_t flip;

    static HalfSource of(const Instruction& in, unsigned source) {
        const std::uint32_t bits = in.modifiers >> (source * kBits);
        return {bits & 3, bits & kAbsolute ? 0x7fff7fffu : ~0u,
                (bits & kNegate ? 0x80008000u : 0u) ^ (bits & kNegateHigh ? 0x80000000u : 0u)};
    }
    std::uint32_t apply(std::uint32_t bits) const {
        if (swizzle == kHalvesOfF32) [[unlikely]] {
            const std::uint32_t half = numerics::encode<numerics::Fp16Format>(
                std::bit_cast<float>(bits), numerics::Rounding::kTowardZero);
            return ((half << 16 | half) & keep) ^ flip;
        }
        const std::uint32_t low = bits & 0xffffu, high = bits >> 16;
        const std::uint32_t l = swizzle == kH1H1 ? high : low;
        const std::uint32_t h = swizzle == kH0H0 ? low : high;
        return ((h << 16 | l) & keep) ^ flip;
    }
};

/// The modifiers of one source from its bits in the word; false for an fp32 source.
inline bool half_source(Binder& binder, unsigned source, unsigned swizzle_bit, unsigned negate_bit,
                        unsigned absolute_bit, bool has_swizzle = true) {
    const Word& word = binder.word;
    const auto swizzle = has_swizzle ? static_cast<std::uint32_t>(word.bits(swizzle_bit, 2)) : 0u;
    binder.out.modifiers |= (swizzle | (word.bit(negate_bit) ? HalfSource::kNegate : 0) |
                             (word.bit(absolute_bit) ? HalfSource::kAbsolute : 0))
                            << (source * HalfSource::kBits);
    return swizzle != kHalvesOfF32;
}

/// Modifiers of the sources a (bits 74-75, 72, 73) and b of the two-source instructions; an
/// immediate b has none. False for fp32 sources unless the instruction takes them.
inline bool bind_half_modifiers_ab(Binder& binder, bool takes_f32 = false) {
    constexpr Arch kFirstWithout = 90;
    const bool b = binder.flexible_is_immediate() || half_source(binder, 1, 60, 63, 62);
    const bool are_halves = half_source(binder, 0, 74, 72, 73) && b;
    return are_halves || (takes_f32 && binder.arch < kFirstWithout);
}

/// Formats of a packed pair.
enum class HalfType { kF16, kBf16 };

/// 1.0, the canonical NaN and the exponent field of a type, in both halves.
template <HalfType type>
struct HalfConstants {
    static constexpr std::uint32_t kOne = type == HalfType::kF16 ? 0x3c00 : 0x3f80;
    static constexpr std::uint32_t kNan = 0x7fff;
    static constexpr std::uint32_t kInfinity = type == HalfType::kF16 ? 0x7c00 : 0x7f80;
};

/// .FTZ on one half.
template <HalfType type>
inline std::uint32_t flush_half(std::uint32_t half) {
    return (half & HalfConstants<type>::kInfinity) == 0 ? half & 0x8000u : half;
}
template <HalfType type>
inline std::uint32_t flush_pair(std::uint32_t pair) {
    return flush_half<type>(pair >> 16) << 16 | flush_half<type>(pair & 0xffffu);
}

}  // namespace lockstep::sass
