// SPDX-License-Identifier: Apache-2.0
// HADD2, HMUL2, HFMA2 (and HFMA2.MMA, which computes the same on another pipe): two fp16 or bf16
// operations a lane, each rounded once to nearest even; NaN results are 0x7fff. .FTZ flushes
// subnormal sources and results, .FMZ flushes sources and makes zero times anything +0, .SAT clamps
// to [0, 1] (NaN: 0), .RELU makes what is negative 0 (NaN stays). HADD2.F32 gives the sum of the
// low halves as fp32. Source: PTX ISA (add, mul, fma of f16x2 and bf16x2); encodings probed.
#include "isa/sass/semantics/half.h"

#include "isa/sass/semantics/float_operands.h"
#include "isa/sass/semantics/half_rows.h"

namespace lockstep::sass {

namespace {

// Instruction::immediate: what is done besides the operation.
constexpr std::uint32_t kFlush = 1, kFlushZero = 2, kSaturate = 4, kRelu = 8;

enum class Operation { kAdd, kMultiply, kFma };

template <HalfType type>
inline std::uint32_t finish_half(std::uint32_t half, std::uint32_t flags) {
    using Constants = HalfConstants<type>;
    const bool nan = (half & 0x7fffu) > Constants::kInfinity;
    const bool negative = half >> 15 != 0;
    if (flags & kFlush) half = flush_half<type>(half);
    if (flags & kSaturate) {
        half = negative || nan ? 0u : half;
        half = half > Constants::kOne ? Constants::kOne : half;
    }
    if (flags & kRelu) half = negative && !nan ? 0u : half;
    return half;
}

template <HalfType type, Operation operation>
inline void compute(Row& out, const Row& a, const Row& b, const Row& c) {
    if constexpr (operation == Operation::kAdd) add_halves<type>(out, a, b);
    if constexpr (operation == Operation::kMultiply) multiply_halves<type>(out, a, b);
    if constexpr (operation == Operation::kFma) fma_halves<type>(out, a, b, c);
}

/// No modifiers at all.
template <HalfType type, Operation operation>
void execute_plain(const Instruction& in, Warp& warp) {
    Row result;
    const Row& a = warp.row(in.a);
    compute<type, operation>(result, a, warp.row(in.b),
                             operation == Operation::kFma ? warp.row(in.c) : a);
    copy_lanes(warp.row(in.d), result, warp.mask);
}

template <HalfType type>
inline void prepare(Row& out, const Row& in, HalfSource source, std::uint32_t flags) {
    if (flags & (kFlush | kFlushZero)) {
        for (unsigned l = 0; l < kWarpSize; ++l)
            out.lane[l] = flush_pair<type>(source.apply(in.lane[l]));
    } else {
        for (unsigned l = 0; l < kWarpSize; ++l) out.lane[l] = source.apply(in.lane[l]);
    }
}

template <HalfType type, Operation operation>
void execute_modified(const Instruction& in, Warp& warp) {
    const auto flags = static_cast<std::uint32_t>(in.immediate);
    Row a, b, c, result;
    prepare<type>(a, warp.row(in.a), HalfSource::of(in, 0), flags);
    prepare<type>(b, warp.row(in.b), HalfSource::of(in, 1), flags);
    if constexpr (operation == Operation::kFma)
        prepare<type>(c, warp.row(in.c), HalfSource::of(in, 2), flags);
    if (flags & kFlushZero) {
        for (unsigned l = 0; l < kWarpSize; ++l) {
            for (const std::uint32_t half : {0x7fffu, 0x7fff0000u}) {
                const bool zero = (a.lane[l] & half) == 0 || (b.lane[l] & half) == 0;
                const std::uint32_t keep = zero ? ~(half | half << 1) : ~0u;
                a.lane[l] &= keep;
                b.lane[l] &= keep;
            }
        }
    }
    compute<type, operation>(result, a, b, operation == Operation::kFma ? c : a);
    write_lanes(warp, in.d, [&](unsigned l) {
        return finish_half<type>(result.lane[l] >> 16, flags) << 16 |
               finish_half<type>(result.lane[l] & 0xffffu, flags);
    });
}

/// HADD2.F32: the low halves of the sources, added in fp32.
template <HalfType type>
void execute_add_f32(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const HalfSource source_a = HalfSource::of(in, 0), source_b = HalfSource::of(in, 1);
    const auto flags = static_cast<std::uint32_t>(in.immediate);
    const auto value = [&](std::uint32_t pair) {
        const std::uint32_t half = pair & 0xffffu;
        return static_cast<float>(widen<type>(flags & kFlush ? flush_half<type>(half) : half));
    };
    write_lanes(warp, in.d, [&](unsigned l) {
        const float sum = value(source_a.apply(a.lane[l])) + value(source_b.apply(b.lane[l]));
        return canonical_bits(flags & kSaturate ? saturate(sum) : sum);
    });
}

/// HADD2.F32 of -RZ and one half of a register: how compiled code converts fp16 to fp32.
template <unsigned shift>
void execute_widen(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        return canonical_bits(widen<HalfType::kF16>(b.lane[l] >> shift));
    });
}

void execute_move(const Instruction& in, Warp& warp) {
    copy_lanes(warp.row(in.d), warp.row(in.c), warp.mask);
}

/// Sets the handler for out.modifiers (sources) and out.immediate (flags).
template <Operation operation>
void choose(Instruction& out, bool is_bf16) {
    const bool plain = out.modifiers == 0 && out.immediate == 0;
    constexpr Execute kExecute[2][2] = {
        {execute_modified<HalfType::kF16, operation>, execute_plain<HalfType::kF16, operation>},
        {execute_modified<HalfType::kBf16, operation>, execute_plain<HalfType::kBf16, operation>}};
    out.execute = kExecute[is_bf16][plain];
}

constexpr Operand kZero = Operand::of_warp(kZeroRow);

/// True for -RZ * RZ + immediate, by which compilers load constants on the half-precision pipe.
bool loads_immediate(const Binder& binder, bool is_bf16) {
    const Instruction& out = binder.out;
    constexpr std::uint32_t kThird = 2 * HalfSource::kBits;
    const auto value = static_cast<std::uint32_t>(binder.word.bits(32, 32));
    const std::uint32_t infinity = is_bf16 ? 0x7f80u : 0x7c00u;
    const auto is_number = [&](std::uint32_t half) { return (half & 0x7fffu) <= infinity; };
    // A product of -0 leaves every addend as it is; with +0 a sum of -0 would be +0.
    const bool negative_product = out.modifiers == HalfSource::kNegate;
    return binder.word.form() == 2 && out.a == kZero && out.b == kZero && negative_product &&
           (out.modifiers >> kThird) == 0 && out.immediate == 0 && is_number(value >> 16) &&
           is_number(value & 0xffffu);
}

bool bind_fma(Binder& binder, bool has_swizzles) {
    const Word& word = binder.word;
    Instruction& out = binder.out;
    out.d = binder.dest_register();
    binder.sources_abc();
    const unsigned form = word.form();
    const bool c_is_flexible = form == 2 || form == 3 || form == 7;
    const unsigned flexible = c_is_flexible ? 2 : 1, third = c_is_flexible ? 1 : 2;
    bool good = half_source(binder, 0, 74, 72, 73, has_swizzles);
    if (!binder.flexible_is_immediate())
        good &= half_source(binder, flexible, 60, 63, 62, has_swizzles);
    good &= half_source(binder, third, 81, 84, 83, has_swizzles);
    if (has_swizzles && word.bit(86)) out.modifiers |= HalfSource::kNegateHigh << HalfSource::kBits;
    const bool is_bf16 = word.bit(85), is_f32 = word.bit(78);
    const bool out_of_bounds_nan = word.bit(76) && word.bit(80);  // .OOB
    if (!good || is_f32 || out_of_bounds_nan) return false;
    out.immediate = (word.bit(80) ? kFlush : 0) | (word.bit(76) ? kFlushZero : 0) |
                    (word.bit(77) ? kSaturate : 0) | (word.bit(79) ? kRelu : 0);
    choose<Operation::kFma>(out, is_bf16);
    if (loads_immediate(binder, is_bf16)) out.execute = execute_move;
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x030, bind_hadd2},  {0x031, bind_hfma2},          {0x032, bind_hmul2},
    {0x033, bind_hset2},  {0x034, bind_hsetp2},         {0x035, bind_hfma2_mma},
    {0x040, bind_hmnmx2}, {0x047, bind_vhmnmx, 90, 90},
};

}  // namespace

bool bind_hadd2(Binder& binder) {
    const Word& word = binder.word;
    Instruction& out = binder.out;
    out.d = binder.dest_register();
    binder.sources_ac();
    const bool is_bf16 = word.bit(85), to_f32 = word.bit(78);
    if (!bind_half_modifiers_ab(binder, !is_bf16 && !to_f32)) return false;
    out.immediate = (word.bit(80) ? kFlush : 0) | (word.bit(77) ? kSaturate : 0);
    if (!to_f32) {
        choose<Operation::kAdd>(out, is_bf16);
        return true;
    }
    out.execute = is_bf16 ? execute_add_f32<HalfType::kBf16> : execute_add_f32<HalfType::kF16>;
    const std::uint32_t b = out.modifiers >> HalfSource::kBits;
    const bool adds_minus_zero =
        out.a == kZero && (out.modifiers & 0xff) == HalfSource::kNegate && out.immediate == 0;
    if (!is_bf16 && adds_minus_zero && (b == kH0H0 || b == kH1H0)) out.execute = execute_widen<0>;
    if (!is_bf16 && adds_minus_zero && b == kH1H1) out.execute = execute_widen<16>;
    return true;
}

bool bind_hmul2(Binder& binder) {
    const Word& word = binder.word;
    Instruction& out = binder.out;
    out.d = binder.dest_register();
    const bool is_bf16 = word.bit(85), is_f32 = word.bit(78);
    binder.sources_ab();
    if (!bind_half_modifiers_ab(binder, !is_bf16) || is_f32 || (word.bit(76) && word.bit(80)))
        return false;
    out.immediate = (word.bit(80) ? kFlush : 0) | (word.bit(76) ? kFlushZero : 0) |
                    (word.bit(77) ? kSaturate : 0);
    choose<Operation::kMultiply>(out, is_bf16);
    return true;
}

bool bind_hfma2(Binder& binder) {
    return bind_fma(binder, true);
}

bool bind_hfma2_mma(Binder& binder) {
    return bind_fma(binder, false);
}

std::span<const BindEntry> half_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
