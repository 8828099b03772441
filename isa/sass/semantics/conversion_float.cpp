// SPDX-License-Identifier: Apache-2.0
// F2F between fp16, bf16, fp32 and fp64 with one rounding, and FRND to an integral number of the
// same type. A NaN becomes the destination's own; in fp64, and from fp64 to fp32, it keeps sign and
// payload (its upper part: measured on an H200) and is quieted.
// A 16-bit result fills the low half of the register, the high half is zero.
#include <array>
#include <utility>

#include "isa/sass/semantics/conversion.h"
#include "isa/sass/semantics/float_types.h"

namespace lockstep::sass {

namespace {

using numerics::Rounding;

// modifiers: rounding, then
constexpr std::uint32_t kFlush = 4;
constexpr unsigned kShiftPosition = 8;

std::uint32_t narrowed_nan(double nan) {
    const std::uint64_t bits = as_bits(nan);
    return static_cast<std::uint32_t>(bits >> 32 & 0x8000'0000) | 0x7fc0'0000 |
           static_cast<std::uint32_t>(bits >> 29 & 0x003f'ffff);
}

template <unsigned to, unsigned from>
void execute_f2f(const Instruction& in, Warp& warp) {
    const bool flushes = in.modifiers & kFlush;
    const FloatSource<from> source(in, warp, in.modifiers >> kShiftPosition,
                                   from == kTypeF32 && flushes);
    const auto rounding = static_cast<Rounding>(in.modifiers & 3);
    if constexpr (to == kTypeF32 && from == kTypeF64) {
        if (rounding == Rounding::kNearestEven) {
            return write_lanes(warp, in.d, [&](unsigned l) {
                const double value = source.value(l);
                const std::uint32_t bits =
                    value == value ? as_bits(static_cast<float>(value)) : narrowed_nan(value);
                return flushes ? flush(bits) : bits;
            });
        }
        return write_lanes(warp, in.d, [&](unsigned l) {
            const double value = source.value(l);
            const std::uint32_t bits =
                value == value ? encode_float<to>(value, rounding) : narrowed_nan(value);
            return flushes ? flush(bits) : bits;
        });
    }
    write_float<to>(warp, in.d, [&](unsigned l) {
        const auto bits = encode_float<to>(source.value(l), rounding);
        if constexpr (to == kTypeF32)
            return flushes ? flush(bits) : bits;
        else
            return bits;
    });
}

template <unsigned type>
void execute_frnd(const Instruction& in, Warp& warp) {
    const FloatSource<type> source(in, warp, in.modifiers >> kShiftPosition,
                                   type == kTypeF32 && in.modifiers & kFlush);
    const auto run = [&](auto&& round) {
        write_float<type>(warp, in.d, [&](unsigned l) {
            // Integral numbers of a type are representable in it: the mode does not matter.
            return encode_float<type>(round(source.value(l)), Rounding::kNearestEven);
        });
    };
    switch (static_cast<Rounding>(in.modifiers & 3)) {
        case Rounding::kDown:
            return run([](auto x) { return std::floor(x); });
        case Rounding::kUp:
            return run([](auto x) { return std::ceil(x); });
        case Rounding::kTowardZero:
            return run([](auto x) { return std::trunc(x); });
        default:
            return run([](auto x) { return std::nearbyint(x); });
    }
}

template <unsigned to>
Execute f2f_to(unsigned from) {
    switch (from) {
        case kTypeF16:
            return to == kTypeF16 ? nullptr : execute_f2f<to, kTypeF16>;
        case kTypeF32:
            return to == kTypeF32 ? nullptr : execute_f2f<to, kTypeF32>;
        case kTypeF64:
            return to == kTypeF64 ? nullptr : execute_f2f<to, kTypeF64>;
        case kTypeBf16:
            return to == kTypeBf16 ? nullptr : execute_f2f<to, kTypeBf16>;
        default:
            return nullptr;
    }
}

bool bind_common(Binder& binder, unsigned from, unsigned to) {
    const Word& word = binder.word;
    std::uint32_t shift = 0;
    if (!bind_float_source(binder, from, shift)) return false;
    binder.out.d = binder.dest_register(16, to == kTypeF64 ? 2 : 1);
    binder.out.modifiers = static_cast<std::uint32_t>(word.bits(78, 2)) |
                           (word.bit(80) ? kFlush : 0) | shift << kShiftPosition;
    return true;
}

}  // namespace

bool bind_f2f(Binder& binder) {
    const auto to = static_cast<unsigned>(binder.word.bits(75, 3));
    const auto from = static_cast<unsigned>(binder.word.bits(84, 3));
    if (!bind_common(binder, from, to)) return false;
    switch (to) {
        case kTypeF16:
            binder.out.execute = f2f_to<kTypeF16>(from);
            break;
        case kTypeF32:
            binder.out.execute = f2f_to<kTypeF32>(from);
            break;
        case kTypeF64:
            binder.out.execute = f2f_to<kTypeF64>(from);
            break;
        case kTypeBf16:
            binder.out.execute = f2f_to<kTypeBf16>(from);
            break;
        default:
            return false;
    }
    return binder.out.execute != nullptr;
}

bool bind_frnd(Binder& binder) {
    const auto to = static_cast<unsigned>(binder.word.bits(75, 3));
    const auto from = static_cast<unsigned>(binder.word.bits(84, 3));
    if (to != from || !bind_common(binder, from, to)) return false;
    switch (to) {
        case kTypeF16:
            binder.out.execute = execute_frnd<kTypeF16>;
            break;
        case kTypeF32:
            binder.out.execute = execute_frnd<kTypeF32>;
            break;
        case kTypeF64:
            binder.out.execute = execute_frnd<kTypeF64>;
            break;
        default:
            binder.out.execute = execute_frnd<kTypeBf16>;
            break;
    }
    return true;
}

}  // namespace lockstep::sass
