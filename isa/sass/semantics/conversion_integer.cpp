// SPDX-License-Identifier: Apache-2.0
// F2I, I2F, I2FP, F2IP. Float to integer rounds in the given mode and clamps to the range of the
// integer; a NaN gives 0 with .NTZ and the integer's top bit alone without (PTX ISA, cvt: the
// compilers use .NTZ where neither side has 64 bits). Results narrower than a register are
// extended. Integer to float rounds once.
#include <array>
#include <limits>
#include <type_traits>

#include "isa/sass/semantics/conversion.h"
#include "isa/sass/semantics/float_types.h"

namespace lockstep::sass {

namespace {

using numerics::Rounding;

template <Rounding rounding, typename T>
inline T round_to_integral(T value) {
    if constexpr (rounding == Rounding::kDown) return std::floor(value);
    if constexpr (rounding == Rounding::kUp) return std::ceil(value);
    if constexpr (rounding == Rounding::kTowardZero) return std::trunc(value);
    return std::nearbyint(value);
}

/// value, which is integral or NaN, clamped to Int.
template <typename Int, typename T>
inline Int clamp_to(T value, Int of_nan) {
    // 2^width and, for signed types, -2^(width - 1) are exact in every T.
    constexpr T kEnd = static_cast<T>(std::numeric_limits<Int>::max() / 2 + 1) * 2;
    constexpr T kBegin = static_cast<T>(std::numeric_limits<Int>::min());
    if (value != value) return of_nan;
    if (value >= kEnd) return std::numeric_limits<Int>::max();
    if (value <= kBegin) return std::numeric_limits<Int>::min();
    return static_cast<Int>(value);
}

// modifiers of F2I: shift of a 16-bit source, then:
constexpr std::uint32_t kShiftMask = 31;
constexpr std::uint32_t kFlush = 32;
constexpr std::uint32_t kNanToZero = 64;

template <typename Int, unsigned type, Rounding rounding>
void execute_f2i(const Instruction& in, Warp& warp) {
    const FloatSource<type> source(in, warp, in.modifiers & kShiftMask, in.modifiers & kFlush);
    const Int of_nan = in.modifiers & kNanToZero ? Int{0}
                                                 : static_cast<Int>(std::make_unsigned_t<Int>{1}
                                                                    << (sizeof(Int) * 8 - 1));
    const auto convert = [&](unsigned l) {
        return clamp_to<Int>(round_to_integral<rounding>(source.value(l)), of_nan);
    };
    if constexpr (sizeof(Int) == 8) {
        write_lanes64(warp, in.d,
                      [&](unsigned l) { return static_cast<std::uint64_t>(convert(l)); });
    } else {
        write_lanes(warp, in.d, [&](unsigned l) {
            return static_cast<std::uint32_t>(static_cast<std::int32_t>(convert(l)));
        });
    }
}

template <typename Int, unsigned type>
constexpr std::array<Execute, 4> kF2iByRounding = {
    execute_f2i<Int, type, Rounding::kNearestEven>, execute_f2i<Int, type, Rounding::kDown>,
    execute_f2i<Int, type, Rounding::kUp>, execute_f2i<Int, type, Rounding::kTowardZero>};

template <typename Int>
Execute f2i_to(unsigned type, unsigned rounding) {
    switch (type) {
        case kTypeF16:
            return kF2iByRounding<Int, kTypeF16>[rounding];
        case kTypeF32:
            return kF2iByRounding<Int, kTypeF32>[rounding];
        case kTypeF64:
            return kF2iByRounding<Int, kTypeF64>[rounding];
        default:
            return kF2iByRounding<Int, kTypeBf16>[rounding];
    }
}

/// A 64-bit integer as a double rounded to odd: rounding that to fewer bits equals rounding the
/// integer itself.
inline double to_odd(std::uint64_t magnitude) {
    if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
    const unsigned drop = 11 - static_cast<unsigned>(std::countl_zero(magnitude));
    const std::uint64_t lost = magnitude & ((std::uint64_t{1} << drop) - 1);
    return static_cast<double>((magnitude - lost) | (lost != 0 ? std::uint64_t{1} << drop : 0u));
}

/// A 64-bit magnitude to double in a directed mode.
inline double directed_double(std::uint64_t magnitude, bool negative, Rounding rounding) {
    const bool away = rounding == (negative ? Rounding::kDown : Rounding::kUp);
    if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
    const unsigned drop = 11 - static_cast<unsigned>(std::countl_zero(magnitude));
    const std::uint64_t lost = magnitude & ((std::uint64_t{1} << drop) - 1);
    const auto truncated = static_cast<double>(magnitude - lost);
    return away && lost != 0 ? truncated + std::ldexp(1.0, static_cast<int>(drop)) : truncated;
}

template <typename Int, unsigned type>
inline auto convert_integer(Int value, Rounding rounding) {
    if constexpr (type == kTypeF32 || type == kTypeF64) {
        using Float = std::conditional_t<type == kTypeF32, float, double>;
        if (rounding == Rounding::kNearestEven) return as_bits(static_cast<Float>(value));
    }
    if constexpr (sizeof(Int) < 8) {
        return encode_float<type>(static_cast<double>(value), rounding);
    } else {
        const bool negative = value < 0;
        const std::uint64_t magnitude =
            negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
        const double exact =
            type == kTypeF64 ? directed_double(magnitude, negative, rounding) : to_odd(magnitude);
        return encode_float<type>(negative ? -exact : exact, rounding);
    }
}

template <typename Int, unsigned type>
void execute_i2f(const Instruction& in, Warp& warp) {
    const Row* b = &warp.row(in.b);
    const unsigned shift = in.modifiers >> 2;
    const auto rounding = static_cast<Rounding>(in.modifiers & 3);
    const auto value = [&](unsigned l) {
        if constexpr (sizeof(Int) == 8)
            return static_cast<Int>(lane64(b, l));
        else
            return static_cast<Int>(b->lane[l] >> shift);
    };
    if (rounding == Rounding::kNearestEven) {
        write_float<type>(warp, in.d, [&](unsigned l) {
            return convert_integer<Int, type>(value(l), Rounding::kNearestEven);
        });
    } else {
        write_float<type>(
            warp, in.d, [&](unsigned l) { return convert_integer<Int, type>(value(l), rounding); });
    }
}

template <typename Int>
Execute i2f_from(unsigned type) {
    switch (type) {
        case kTypeF16:
            return execute_i2f<Int, kTypeF16>;
        case kTypeF32:
            return execute_i2f<Int, kTypeF32>;
        case kTypeF64:
            return execute_i2f<Int, kTypeF64>;
        case kTypeBf16:
            return execute_i2f<Int, kTypeBf16>;
        default:
            return nullptr;
    }
}

/// The handler for an integer source of 8 << size bits.
Execute i2f_handler(unsigned size, bool is_signed, unsigned type) {
    switch (size * 2 + is_signed) {
        case 0:
            return i2f_from<std::uint8_t>(type);
        case 1:
            return i2f_from<std::int8_t>(type);
        case 2:
            return i2f_from<std::uint16_t>(type);
        case 3:
            return i2f_from<std::int16_t>(type);
        case 4:
            return i2f_from<std::uint32_t>(type);
        case 5:
            return i2f_from<std::int32_t>(type);
        case 6:
            return i2f_from<std::uint64_t>(type);
        default:
            return i2f_from<std::int64_t>(type);
    }
}

// modifiers of F2IP
constexpr std::uint32_t kPackSigned = 1, kPackRelu = 2, kPackNanToZero = 4, kPackHighC = 8,
                        kPackTruncate = 16;

/// Two fp32 to 8-bit integers, a above b, below a half of c.
void execute_f2ip(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t modifiers = in.modifiers;
    const auto convert = [&](std::uint32_t bits) -> std::uint32_t {
        float value = as_float(bits);
        if (modifiers & kPackRelu && !(value > 0) && value == value) value = 0;
        value = modifiers & kPackTruncate ? std::trunc(value) : std::nearbyint(value);
        if (modifiers & kPackSigned)
            return static_cast<std::uint8_t>(
                clamp_to<std::int8_t>(value, modifiers & kPackNanToZero ? 0 : -128));
        return clamp_to<std::uint8_t>(value, modifiers & kPackNanToZero ? 0 : 128);
    };
    const unsigned shift = modifiers & kPackHighC ? 16 : 0;
    write_lanes(warp, in.d, [&](unsigned l) {
        return c.lane[l] >> shift << 16 | convert(a.lane[l]) << 8 | convert(b.lane[l]);
    });
}

}  // namespace

bool bind_f2i(Binder& binder) {
    const Word& word = binder.word;
    const auto type = static_cast<unsigned>(word.bits(84, 3));
    const auto size = static_cast<unsigned>(word.bits(75, 2));
    const auto rounding = static_cast<unsigned>(word.bits(78, 2));
    const bool is_signed = word.bit(72);
    std::uint32_t shift = 0;
    if (!bind_float_source(binder, type, shift)) return false;
    binder.out.d = binder.dest_register(16, size == 3 ? 2 : 1);
    binder.out.modifiers = shift | (word.bit(80) ? kFlush : 0) | (word.bit(77) ? kNanToZero : 0);
    switch (size * 2 + is_signed) {
        case 0:
            binder.out.execute = f2i_to<std::uint8_t>(type, rounding);
            break;
        case 1:
            binder.out.execute = f2i_to<std::int8_t>(type, rounding);
            break;
        case 2:
            binder.out.execute = f2i_to<std::uint16_t>(type, rounding);
            break;
        case 3:
            binder.out.execute = f2i_to<std::int16_t>(type, rounding);
            break;
        case 4:
            binder.out.execute = f2i_to<std::uint32_t>(type, rounding);
            break;
        case 5:
            binder.out.execute = f2i_to<std::int32_t>(type, rounding);
            break;
        case 6:
            binder.out.execute = f2i_to<std::uint64_t>(type, rounding);
            break;
        default:
            binder.out.execute = f2i_to<std::int64_t>(type, rounding);
            break;
    }
    return true;
}

bool bind_i2f(Binder& binder) {
    const Word& word = binder.word;
    const auto type = static_cast<unsigned>(word.bits(75, 3));
    const auto size = static_cast<unsigned>(word.bits(84, 2));
    binder.out.d = binder.dest_register(16, type == kTypeF64 ? 2 : 1);
    binder.source_b(size == 3 ? SourceWidth::k64 : SourceWidth::k32);
    // .B0-.B3 and .H0, .H1 choose a part of the register.
    const auto selector =
        binder.flexible_is_immediate() ? 0u : static_cast<unsigned>(word.bits(60, 2));
    const unsigned shift = size == 0 ? selector * 8 : (size == 1 ? selector * 16 : 0);
    if (size == 1 && selector > 1) return false;
    binder.out.modifiers = static_cast<std::uint32_t>(word.bits(78, 2)) | shift << 2;
    binder.out.execute = i2f_handler(size, word.bit(74), type);
    return binder.out.execute != nullptr;
}

bool bind_i2fp(Binder& binder) {
    const Word& word = binder.word;
    constexpr unsigned kSize32 = 2;
    if (word.bits(75, 3) != kTypeF32 || word.bits(84, 2) != kSize32) return false;
    binder.out.d = binder.dest_register();
    binder.source_b();
    binder.out.modifiers = static_cast<std::uint32_t>(word.bits(78, 2));
    binder.out.execute = i2f_handler(kSize32, word.bit(74), kTypeF32);
    return binder.out.modifiers == 0 || binder.out.modifiers == 3;
}

bool bind_f2ip(Binder& binder) {
    const Word& word = binder.word;
    binder.out.d = binder.dest_register();
    binder.sources_abc();
    const auto integer = word.bits(76, 2);
    const auto rounding = word.bits(78, 2);
    if (integer > 1 || rounding == 1 || rounding == 2) return false;
    binder.out.modifiers = (integer == 1 ? kPackSigned : 0) | (word.bit(75) ? kPackRelu : 0) |
                           (word.bit(74) ? kPackNanToZero : 0) | (word.bit(72) ? kPackHighC : 0) |
                           (rounding == 3 ? kPackTruncate : 0);
    binder.out.execute = execute_f2ip;
    return true;
}

}  // namespace lockstep::sass
