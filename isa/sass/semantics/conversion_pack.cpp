// SPDX-License-Identifier: Apache-2.0
// F2FP: converts and packs. PACK_AB: fp32 a (high) and b (low) to fp16x2 or bf16x2. With MERGE_C to
// e4m3/e5m2: the packed 16 bits lie below a half of c; UNPACK_B takes the pair from fp16x2 (to fp8)
// or from fp8x2 (to fp16x2, bf16x2). MERGE_C alone converts b only; PACK_B gives tf32. sm_80 and
// sm_86 have only the fp32 sources. Source: encodings probed with nvdisasm; what ptxas emits for
// cvt.*x2 and packed stores.
#include <array>

#include "isa/sass/semantics/conversion.h"
#include "isa/sass/semantics/float_operands.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp8.h"
#include "sim/numerics/tf32.h"

namespace lockstep::sass {

namespace {

using numerics::Rounding;

// Codes of the destination (bits 87, 76) and of the source (bits 74, 73).
enum Destination : unsigned { kToF16 = 0, kToBf16 = 1, kToE5m2 = 2, kToE4m3 = 3 };
enum Source : unsigned { kFromF32 = 0, kFromF16 = 1, kFromE5m2 = 2, kFromE4m3 = 3 };

// modifiers: rounding, then
constexpr std::uint32_t kSaturateFinite = 4, kRelu = 8, kHighB = 16, kHighC = 32;

template <unsigned to>
inline std::uint32_t convert(float value, std::uint32_t modifiers) {
    using namespace numerics;
    const auto rounding = static_cast<Rounding>(modifiers & 3);
    const bool saturates = modifiers & kSaturateFinite;
    // .RELU makes negative numbers, -0 too, +0; a NaN stays a NaN.
    if (modifiers & kRelu && value <= 0.0f) value = 0.0f;
    if constexpr (to == kToF16) return encode<Fp16Format>(value, rounding, saturates);
    if constexpr (to == kToBf16) return encode<Bf16Format>(value, rounding, saturates);
    if constexpr (to == kToE5m2) return encode<E5m2Format>(value, rounding, saturates);
    if constexpr (to == kToE4m3) return encode<E4m3Format>(value, rounding, saturates);
}

template <unsigned to>
constexpr unsigned kBits = to == kToF16 || to == kToBf16 ? 16 : 8;

/// fp32 a and b; fp8 results lie below a half of c.
template <unsigned to>
void execute_pack(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t modifiers = in.modifiers;
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t packed = convert<to>(as_float(a.lane[l]), modifiers) << kBits<to> |
                                     convert<to>(as_float(b.lane[l]), modifiers);
        if constexpr (kBits<to> == 16) return packed;
        return packed | (modifiers & kHighC ? c.lane[l] & 0xffff0000u : c.lane[l] << 16);
    });
}

/// The plain case, which a whole row of vector instructions does.
template <unsigned to>
void execute_pack_nearest(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        return convert<to>(as_float(a.lane[l]), 0) << 16 | convert<to>(as_float(b.lane[l]), 0);
    });
}

/// MERGE_C: fp32 b to 16 bits below a half of c.
template <unsigned to>
void execute_merge(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t modifiers = in.modifiers;
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t merged = modifiers & kHighC ? c.lane[l] & 0xffff0000u : c.lane[l] << 16;
        return merged | convert<to>(as_float(b.lane[l]), modifiers);
    });
}

/// fp32 b to tf32 in a register of its own (PACK_B).
void execute_tf32(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    const auto rounding = static_cast<Rounding>(in.modifiers & 3);
    const std::uint32_t modifiers = in.modifiers;
    write_lanes(warp, in.d, [&](unsigned l) {
        const float value = as_float(b.lane[l]);
        const float kept = modifiers & kRelu && value <= 0.0f ? 0.0f : value;
        return numerics::fp32_to_tf32(kept, rounding, modifiers & kSaturateFinite);
    });
}

/// fp16x2 b to a pair of fp8 below a half of c.
template <unsigned to>
void execute_narrow(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t modifiers = in.modifiers;
    write_lanes(warp, in.d, [&](unsigned l) {
        const auto half = [&](unsigned shift) {
            const auto bits = static_cast<std::uint16_t>(b.lane[l] >> shift);
            return convert<to>(numerics::fp16_to_fp32(bits), modifiers);
        };
        const std::uint32_t merged = modifiers & kHighC ? c.lane[l] & 0xffff0000u : c.lane[l] << 16;
        return merged | half(16) << 8 | half(0);
    });
}

/// A pair of fp8 in a half of b to fp16x2 or bf16x2.
template <unsigned to, unsigned from>
void execute_widen(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    const std::uint32_t modifiers = in.modifiers;
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t pair = modifiers & kHighB ? b.lane[l] >> 16 : b.lane[l];
        const auto one = [&](unsigned shift) {
            const auto bits = static_cast<std::uint8_t>(pair >> shift);
            const float value =
                from == kFromE5m2 ? numerics::e5m2_to_fp32(bits) : numerics::e4m3_to_fp32(bits);
            return convert<to>(value, modifiers);
        };
        return one(8) << 16 | one(0);
    });
}

constexpr std::array<Execute, 4> kPack = {execute_pack<kToF16>, execute_pack<kToBf16>,
                                          execute_pack<kToE5m2>, execute_pack<kToE4m3>};
constexpr std::array<Execute, 2> kPackNearest = {execute_pack_nearest<kToF16>,
                                                 execute_pack_nearest<kToBf16>};

}  // namespace

bool bind_f2fp(Binder& binder) {
    const Word& word = binder.word;
    Instruction& out = binder.out;
    out.d = binder.dest_register();
    binder.sources_abc();
    const bool has_fp8 = binder.arch >= 89;
    const auto rounding = static_cast<unsigned>(word.bits(79, 3));
    const auto to = static_cast<unsigned>(word.bit(76) | (has_fp8 && word.bit(87)) << 1);
    const auto from = has_fp8 ? static_cast<unsigned>(word.bits(73, 2)) : unsigned{kFromF32};
    const bool packs_ab = !word.bit(78) || (has_fp8 && word.bit(90));
    const bool unpacks_b = has_fp8 && word.bit(89);
    if (rounding != 0 && rounding != 3) return false;  // the others are stochastic or undefined
    out.modifiers = rounding | (word.bit(77) ? kSaturateFinite : 0) | (word.bit(75) ? kRelu : 0) |
                    (word.bit(88) ? kHighB : 0) | (word.bit(72) ? kHighC : 0);
    if (has_fp8 && word.bit(86)) {
        out.execute = execute_tf32;
        return to == kToBf16 && from == kFromF32 && word.bit(78) && unpacks_b && !word.bit(90);
    }
    const bool to_fp8 = to >= kToE5m2;
    switch (from) {
        case kFromF32: {
            const bool merges = has_fp8 && word.bit(90);
            if (unpacks_b || merges != to_fp8) return false;
            if (!packs_ab) {  // MERGE_C
                out.execute = to == kToF16 ? execute_merge<kToF16> : execute_merge<kToBf16>;
                return !to_fp8;
            }
            const bool plain = !to_fp8 && out.modifiers == 0;
            out.execute = plain ? kPackNearest[to] : kPack[to];
            return true;
        }
        case kFromF16:
            if (!to_fp8 || unpacks_b || !word.bit(90) || word.bit(78)) return false;
            out.execute = to == kToE5m2 ? execute_narrow<kToE5m2> : execute_narrow<kToE4m3>;
            return true;
        default: {
            if (to_fp8 || !unpacks_b || word.bit(78) || word.bit(90)) return false;
            constexpr Execute kWiden[2][2] = {
                {execute_widen<kToF16, kFromE5m2>, execute_widen<kToF16, kFromE4m3>},
                {execute_widen<kToBf16, kFromE5m2>, execute_widen<kToBf16, kFromE4m3>}};
            out.execute = kWiden[to][from - kFromE5m2];
            return true;
        }
    }
}

}  // namespace lockstep::sass
