// SPDX-License-Identifier: Apache-2.0
// Sign modifiers (-x, |x|, -|x|) of floating-point sources, and what all fp32 operations share.
#pragma once

#include <cstdint>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/lanes.h"
#include "sim/numerics/rounding.h"

namespace lockstep::sass {

/// The NaN that every fp32 operation returns, whatever NaN it was given.
constexpr std::uint32_t kFloatNan = 0x7fffffffu;

/// Sets out.negate and out.absolute for two sources: a (bits 72, 73) and the flexible b (63, 62;
/// none where it is an immediate). Where b is the register at bits 64-71 (DADD), 75 and 74.
inline void sign_modifiers_ab(Binder& binder, bool b_is_third = false) {
    const Word& word = binder.word;
    const bool b_has_none = binder.flexible_is_immediate();
    const unsigned b_negate = b_is_third ? 75 : 63;
    const unsigned b_absolute = b_is_third ? 74 : 62;
    binder.out.negate =
        static_cast<std::uint8_t>(word.bit(72) | (!b_has_none && word.bit(b_negate)) << 1);
    binder.out.absolute =
        static_cast<std::uint8_t>(word.bit(73) | (!b_has_none && word.bit(b_absolute)) << 1);
}

/// The same for three sources: the flexible one has bits 63, 62 (none for an immediate), the one at
/// bits 64-71 has 75, 74.
inline void sign_modifiers_abc(Binder& binder) {
    const Word& word = binder.word;
    const bool immediate = binder.flexible_is_immediate();
    const unsigned form = word.form();
    const bool c_is_flexible = form == 2 || form == 3 || form == 7;
    const unsigned flexible = c_is_flexible ? 2 : 1;
    const unsigned third = c_is_flexible ? 1 : 2;
    const auto gather = [&](unsigned a, unsigned f, unsigned t) {
        return static_cast<std::uint8_t>(word.bit(a) | (!immediate && word.bit(f)) << flexible |
                                         word.bit(t) << third);
    };
    binder.out.negate = gather(72, 63, 75);
    binder.out.absolute = gather(73, 62, 74);
}

/// A source's sign modifiers as masks: (bits & keep) ^ flip.
struct Sign {
    std::uint32_t keep;
    std::uint32_t flip;

    static Sign of(const Instruction& in, unsigned source) {
        return {in.absolute >> source & 1 ? 0x7fffffffu : ~0u,
                in.negate >> source & 1 ? 0x80000000u : 0u};
    }
    std::uint32_t apply(std::uint32_t bits) const { return (bits & keep) ^ flip; }
    std::uint64_t apply64(std::uint64_t bits) const {
        return (bits & (std::uint64_t{keep} << 32 | 0xffffffffu)) ^ std::uint64_t{flip} << 32;
    }
};

/// .FTZ on bits: a subnormal becomes a zero of its sign.
inline std::uint32_t flush(std::uint32_t bits) {
    return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}

/// .SAT: clamps to [0, 1]; NaN and -0 give +0.
inline float saturate(float value) {
    const float at_most_one = value < 1.0f ? value : 1.0f;
    return value > 0.0f ? at_most_one : 0.0f;
}

inline std::uint32_t canonical_bits(float value) {
    return value != value ? kFloatNan : as_bits(value);
}

inline numerics::Rounding rounding_at_78(const Word& word) {
    return static_cast<numerics::Rounding>(word.bits(78, 2));
}

}  // namespace lockstep::sass
