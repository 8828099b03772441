// SPDX-License-Identifier: Apache-2.0
// The floating-point types that conversions and MUFU read and write, with one way to get at them.
// The codes are those of the type fields of F2F, F2I, I2F and FRND.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "isa/sass/semantics/float_operands.h"
#include "isa/sass/semantics/lanes.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp32.h"

namespace lockstep::sass {

constexpr unsigned kTypeF16 = 1, kTypeF32 = 2, kTypeF64 = 3, kTypeBf16 = 4;

/// A quiet NaN as the fp64 unit makes it where no source is a NaN.
constexpr std::uint64_t kDoubleNan = 0xfff8'0000'0000'0000ull;

/// A source operand of type Type: value(l) is exact in Value. 16-bit types are the low half of a
/// register, or the high one (selector 1).
template <unsigned type>
class FloatSource {
  public:
    using Value = float;
    FloatSource(const Instruction& in, Warp& warp, unsigned shift, bool flushes)
        : row_(warp.row(in.b)), sign_(Sign::of(in, 1)), shift_(shift), flushes_(flushes) {}
    float value(unsigned l) const {
        const std::uint32_t bits = row_.lane[l];
        float result = 0;
        if constexpr (type == kTypeF32) result = as_float(bits);
        if constexpr (type == kTypeF16)
            result = numerics::fp16_to_fp32(static_cast<std::uint16_t>(bits >> shift_));
        if constexpr (type == kTypeBf16)
            result = numerics::bf16_to_fp32(static_cast<std::uint16_t>(bits >> shift_));
        std::uint32_t modified = sign_.apply(as_bits(result));
        modified = flushes_ ? flush(modified) : modified;
        return as_float(modified);
    }

  private:
    const Row& row_;
    Sign sign_;
    unsigned shift_;
    bool flushes_;
};

template <>
class FloatSource<kTypeF64> {
  public:
    using Value = double;
    FloatSource(const Instruction& in, Warp& warp, unsigned, bool)
        : rows_(&warp.row(in.b)), sign_(Sign::of(in, 1)) {}
    double value(unsigned l) const { return as_double(sign_.apply64(lane64(rows_, l))); }

  private:
    const Row* rows_;
    Sign sign_;
};

/// A value rounded to the type, as register bits. NaNs become the type's own (fp64: quieted).
template <unsigned type, typename Value>
inline auto encode_float(Value value, numerics::Rounding rounding) {
    if constexpr (type == kTypeF64) {
        return as_bits(double{value});
    } else if constexpr (type == kTypeF32 && sizeof(Value) == 4) {
        return canonical_bits(value);
    } else if constexpr (type == kTypeF32) {
        return numerics::encode<numerics::Fp32Format>(value, rounding);
    } else if constexpr (type == kTypeF16) {
        return numerics::encode<numerics::Fp16Format>(value, rounding);
    } else {
        return numerics::encode<numerics::Bf16Format>(value, rounding);
    }
}

/// Writes f(l), bits of the type, to in.d.
template <unsigned type, typename F>
inline void write_float(Warp& warp, Operand d, F&& f) {
    if constexpr (type == kTypeF64) {
        write_lanes64(warp, d, f);
    } else {
        write_lanes(warp, d, f);
    }
}

/// The source of a one-source float instruction: width, sign bits, half selector (bit 60). out.b,
/// negate and absolute are set; false for a type that the opcode lacks.
inline bool bind_float_source(Binder& binder, unsigned type, std::uint32_t& shift) {
    const Word& word = binder.word;
    binder.source_b(type == kTypeF64 ? SourceWidth::kF64 : SourceWidth::k32);
    shift = 0;
    if (!binder.flexible_is_immediate()) {
        binder.out.negate = static_cast<std::uint8_t>(word.bit(63) << 1);
        binder.out.absolute = static_cast<std::uint8_t>(word.bit(62) << 1);
        if (type == kTypeF16 || type == kTypeBf16) {
            shift = word.bit(60) ? 16 : 0;
            if (word.bit(61)) return false;
        }
    }
    return type >= kTypeF16 && type <= kTypeBf16;
}

}  // namespace lockstep::sass
