// SPDX-License-Identifier: Apache-2.0
// FADD, FMUL, FFMA: IEEE 754 binary32 with one rounding in any of four modes. NaN results are
// 0x7fffffff. .FTZ flushes subnormal sources and results to zeros of their sign; .FMZ flushes
// sources and makes zero times anything +0; .SAT clamps to [0, 1]. Each combination is a function
// of its own, so that the plain ones are a load, a multiply-add and a store. Where the host is slow
// at subnormal numbers they are computed in fp64, where all fp32 numbers and products are normal.
// Source: PTX ISA (add, mul, fma: .ftz, .sat, rounding), SASS encodings probed with nvdisasm.
#include "isa/sass/semantics/float.h"

#include <array>
#include <cmath>
#include <utility>

#include "isa/sass/semantics/directed_rows.h"
#include "isa/sass/semantics/float_operands.h"
#include "isa/sass/semantics/round_to_odd.h"
#include "isa/sass/semantics/subnormal_watch.h"
#include "sim/numerics/fp32.h"

namespace lockstep::sass {

namespace {

using numerics::Rounding;

// What a variant does beyond the plain operation.
constexpr unsigned kSigned = 1;     // -x or |x| on some source
constexpr unsigned kFlush = 2;      // .FTZ
constexpr unsigned kFlushZero = 4;  // .FMZ
constexpr unsigned kSaturate = 8;
constexpr unsigned kDirected = 16;  // not round to nearest even
constexpr unsigned kVariants = 32;

// wide(): the result in fp64, exact or rounded to odd. A sum that is exactly zero is -0 where
// `sign` is -1, as rounding down has it, and else +0, unless both its terms are the other.
struct Add {
    static constexpr unsigned kSources = 2;
    static float apply(float a, float b, float) { return a + b; }
    static double wide(double a, double b, double, double sign) {
        return sign * add_to_odd(sign * a, sign * b);
    }
    static void directed(float* out, const float* a, const float* b, const float*, Rounding r) {
        add_rows(out, a, b, r);
    }
};

struct Multiply {
    static constexpr unsigned kSources = 2;
    static float apply(float a, float b, float) { return a * b; }
    static double wide(double a, double b, double, double) { return a * b; }
    static void directed(float* out, const float* a, const float* b, const float*, Rounding r) {
        multiply_rows(out, a, b, r);
    }
};

struct Fma {
    static constexpr unsigned kSources = 3;
    static float apply(float a, float b, float c) { return std::fma(a, b, c); }
    static double wide(double a, double b, double c, double sign) {
        return sign * add_to_odd(sign * a * b, sign * c);
    }
    static void directed(float* out, const float* a, const float* b, const float* c, Rounding r) {
        fma_rows(out, a, b, c, r);
    }
};

template <unsigned variant>
inline float prepare(std::uint32_t bits, Sign sign) {
    if constexpr (variant & kSigned) bits = sign.apply(bits);
    if constexpr (variant & (kFlush | kFlushZero)) bits = flush(bits);
    return as_float(bits);
}

template <unsigned variant>
inline std::uint32_t finish(float result) {
    if constexpr (variant & kSaturate) result = saturate(result);
    std::uint32_t bits = canonical_bits(result);
    if constexpr (variant & kFlush) bits = flush(bits);
    return bits;
}

/// .FMZ: with a zero among them, both factors become +0.
inline void zero_factors(float& a, float& b) {
    const bool zero = a == 0.0f || b == 0.0f;
    a = zero ? 0.0f : a;
    b = zero ? 0.0f : b;
}

template <typename Operation, unsigned variant>
[[gnu::noinline]] void execute_wide(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = Operation::kSources == 3 ? warp.row(in.c) : a;
    const Sign sign_a = Sign::of(in, 0), sign_b = Sign::of(in, 1), sign_c = Sign::of(in, 2);
    const auto rounding =
        variant & kDirected ? static_cast<Rounding>(in.modifiers) : Rounding::kNearestEven;
    const double sign = rounding == Rounding::kDown ? -1 : 1;
    alignas(64) double wide[kWarpSize];
    alignas(64) float result[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) {
        float x = prepare<variant>(a.lane[l], sign_a);
        float y = prepare<variant>(b.lane[l], sign_b);
        const float z = prepare<variant>(c.lane[l], sign_c);
        if constexpr (variant & kFlushZero) zero_factors(x, y);
        wide[l] = Operation::wide(x, y, z, sign);
    }
    narrow_rows(result, wide, rounding);
    write_lanes(warp, in.d, [&](unsigned l) { return finish<variant>(result[l]); });
}

template <typename Operation, unsigned variant>
[[gnu::always_inline]] inline void execute_plain(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = Operation::kSources == 3 ? warp.row(in.c) : a;
    const Sign sign_a = Sign::of(in, 0), sign_b = Sign::of(in, 1), sign_c = Sign::of(in, 2);
    if constexpr (variant & kDirected) {
        alignas(64) float x[kWarpSize], y[kWarpSize], z[kWarpSize], result[kWarpSize];
        for (unsigned l = 0; l < kWarpSize; ++l) {
            x[l] = prepare<variant>(a.lane[l], sign_a);
            y[l] = prepare<variant>(b.lane[l], sign_b);
            z[l] = prepare<variant>(c.lane[l], sign_c);
            if constexpr (variant & kFlushZero) zero_factors(x[l], y[l]);
        }
        Operation::directed(result, x, y, z, static_cast<Rounding>(in.modifiers));
        write_lanes(warp, in.d, [&](unsigned l) { return finish<variant>(result[l]); });
    } else {
        write_lanes(warp, in.d, [&](unsigned l) {
            float x = prepare<variant>(a.lane[l], sign_a);
            float y = prepare<variant>(b.lane[l], sign_b);
            const float z = prepare<variant>(c.lane[l], sign_c);
            if constexpr (variant & kFlushZero) zero_factors(x, y);
            return finish<variant>(Operation::apply(x, y, z));
        });
    }
}

/// Apart from the handler, which needs no stack frame without it.
template <typename Operation, unsigned variant>
[[gnu::noinline]] void execute_watched(const Instruction& in, Warp& warp) {
    if (subnormal_watch.look())
        execute_wide<Operation, variant>(in, warp);
    else
        execute_plain<Operation, variant>(in, warp);
}

template <typename Operation, unsigned variant>
void execute_arithmetic(const Instruction& in, Warp& warp) {
    if (subnormal_watch.is_due()) [[unlikely]]
        return execute_watched<Operation, variant>(in, warp);
    execute_plain<Operation, variant>(in, warp);
}

template <typename Operation, std::size_t... variant>
constexpr std::array<Execute, kVariants> variants_of(std::index_sequence<variant...>) {
    return {execute_arithmetic<Operation, variant>...};
}

template <typename Operation>
constexpr auto kExecute = variants_of<Operation>(std::make_index_sequence<kVariants>());

/// The variant that the word's modifiers ask for; out.modifiers = rounding.
unsigned variant_of(Binder& binder, bool has_fmz) {
    const Word& word = binder.word;
    const Rounding rounding = rounding_at_78(word);
    binder.out.modifiers = static_cast<std::uint32_t>(rounding);
    return (binder.out.negate | binder.out.absolute ? kSigned : 0) | (word.bit(80) ? kFlush : 0) |
           (has_fmz && word.bit(76) ? kFlushZero : 0) | (word.bit(77) ? kSaturate : 0) |
           (rounding != Rounding::kNearestEven ? kDirected : 0);
}

constexpr bool is_valid(unsigned variant) {
    return (variant & (kFlush | kFlushZero)) != (kFlush | kFlushZero);
}

/// FMUL.{D8,D4,D2,M2,M4,M8}: the product times a power of two, rounded once. The product of two
/// fp32 numbers is exact in fp64. modifiers: rounding, then FTZ, FMZ, SAT as in the variants;
/// immediate: the scale as a double.
void execute_fmul_scaled(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Sign sign_a = Sign::of(in, 0), sign_b = Sign::of(in, 1);
    const auto rounding = static_cast<Rounding>(in.modifiers & 3);
    const unsigned variant = in.modifiers >> 2;
    const double scale = as_double(in.immediate);
    write_lanes(warp, in.d, [&](unsigned l) {
        float x = prepare<kSigned>(a.lane[l], sign_a);
        float y = prepare<kSigned>(b.lane[l], sign_b);
        if (variant & (kFlush | kFlushZero)) {
            x = as_float(flush(as_bits(x)));
            y = as_float(flush(as_bits(y)));
        }
        if (variant & kFlushZero) zero_factors(x, y);
        const float result = numerics::fp64_to_fp32(double{x} * double{y} * scale, rounding);
        const std::uint32_t bits = canonical_bits(variant & kSaturate ? saturate(result) : result);
        return variant & kFlush ? flush(bits) : bits;
    });
}

constexpr BindEntry kEntries[] = {
    {0x008, bind_fsel}, {0x009, bind_fmnmx}, {0x00a, bind_fset}, {0x00b, bind_fsetp},
    {0x020, bind_fmul}, {0x021, bind_fadd},  {0x023, bind_ffma}, {0x102, bind_fchk},
};

}  // namespace

bool bind_fadd(Binder& binder) {
    binder.out.d = binder.dest_register();
    binder.sources_ac();
    sign_modifiers_ab(binder);
    binder.out.execute = kExecute<Add>[variant_of(binder, false)];
    return true;
}

bool bind_fmul(Binder& binder) {
    binder.out.d = binder.dest_register();
    binder.sources_ab();
    sign_modifiers_ab(binder);
    const unsigned variant = variant_of(binder, true);
    if (!is_valid(variant)) return false;
    constexpr unsigned kUnscaled = 4;
    constexpr double kScale[] = {0, 1. / 8, 1. / 4, 1. / 2, 1, 2, 4, 8};
    const auto scale = static_cast<unsigned>(binder.word.bits(84, 3));
    if (scale == 0) return false;
    binder.out.execute = kExecute<Multiply>[variant];
    if (scale != kUnscaled) {
        binder.out.execute = execute_fmul_scaled;
        binder.out.modifiers |= variant << 2;
        binder.out.immediate = as_bits(kScale[scale]);
    }
    return true;
}

bool bind_ffma(Binder& binder) {
    binder.out.d = binder.dest_register();
    binder.sources_abc();
    sign_modifiers_abc(binder);
    const unsigned variant = variant_of(binder, true);
    if (!is_valid(variant)) return false;
    binder.out.execute = kExecute<Fma>[variant];
    return true;
}

std::span<const BindEntry> float_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
