// SPDX-License-Identifier: Apache-2.0
// Multiply-add of 32-bit integers (IMAD low, WIDE and HI) and the dot products of packed bytes
// (IDP). WIDE adds a 64-bit addend to the full product; HI is the upper word of that same sum, so
// its addend is a register pair too. Carries are those of the 64-bit sum (of 32 bits for IMAD.X).
// IMAD.MOV, IMAD.SHL and IMAD.IADD are spellings. Source: PTX ISA (mad, dp4a, dp2a).
#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/integer_handlers.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

template <bool kNegate>
void execute_imad(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    write_lanes(warp, in.d, [&](unsigned l) {
        return a.lane[l] * b.lane[l] + (kNegate ? 0u - c.lane[l] : c.lane[l]);
    });
}

/// IMAD with a zero addend; kNegate as above does not matter.
void execute_imul(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) { return a.lane[l] * b.lane[l]; });
}

void execute_imad_x(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t inversion = 0u - in.negate;
    const std::uint32_t p = warp.read(in.ps[0]);
    write_lanes(warp, in.d, [&](unsigned l) {
        return a.lane[l] * b.lane[l] + (c.lane[l] ^ inversion) + (p >> l & 1);
    });
}

bool is_zero(Operand operand) {
    return operand == Operand::of_warp(kZeroRow);
}

bool bind_imad(Datapath path) {
    Instruction& out = path.out;
    path.dest();
    path.sources_abc();
    // The negation bit of the addend belongs to the field at 64-71; the addend of the forms that
    // have it at 32-63 is negated by bit 63, unless it is an immediate.
    const bool addend_at_32 =
        path.word.form() == 2 || path.word.form() == 3 || path.word.form() == 7;
    out.negate = addend_at_32 ? !path.is_immediate() && path.word.bit(63) : path.word.bit(75);
    if (path.word.bit(74)) {
        out.ps[0] = path.predicate(87);
        return path.execute(execute_imad_x);
    }
    if (out.negate) return path.execute(execute_imad<true>);
    if (is_zero(out.a) || is_zero(out.b)) {
        out.b = out.c;
        return path.execute(execute_move_b);
    }
    return path.execute(is_zero(out.c) ? execute_imul : execute_imad<false>);
}

/// The two words of a lane's 64-bit product.
template <bool kSigned>
std::uint64_t product(std::uint32_t a, std::uint32_t b) {
    if constexpr (kSigned)
        return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a)} *
                                          static_cast<std::int32_t>(b));
    else
        return std::uint64_t{a} * b;
}

/// IMAD.WIDE without negation and carries. Each half is its own pass over 32-bit lanes.
template <bool kSigned>
void execute_imad_wide(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row* c = &warp.row(in.c);
    Row low, high;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint64_t full = product<kSigned>(a.lane[l], b.lane[l]);
        low.lane[l] = static_cast<std::uint32_t>(full);
        high.lane[l] = static_cast<std::uint32_t>(full >> 32);
    }
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint32_t sum = low.lane[l] + c[0].lane[l];
        high.lane[l] += c[1].lane[l] + std::uint32_t{sum < low.lane[l]};
        low.lane[l] = sum;
    }
    Row* d = &warp.row(in.d);
    copy_lanes(d[0], low, warp.mask);
    copy_lanes(d[1], high, warp.mask);
}

/// IMAD.HI, and IMAD.WIDE with negation, carry in or carry out. in.modifiers: 1 extended (.X),
/// 2 upper word only.
template <bool kSigned>
void execute_imad_wide_carry(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row* c = &warp.row(in.c);
    const std::uint32_t inversion = 0u - in.negate;
    const bool extended = (in.modifiers & 1) != 0;
    const std::uint32_t p = extended ? warp.read(in.ps[0]) : in.negate ? kAllLanes : 0u;
    Row low, high, carry;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint64_t full = product<kSigned>(a.lane[l], b.lane[l]);
        const std::uint64_t addend =
            (c[0].lane[l] ^ inversion) | std::uint64_t{c[1].lane[l] ^ inversion} << 32;
        const std::uint64_t partial = full + addend;
        const std::uint64_t sum = partial + (p >> l & 1);
        low.lane[l] = static_cast<std::uint32_t>(sum);
        high.lane[l] = static_cast<std::uint32_t>(sum >> 32);
        carry.lane[l] = std::uint32_t{partial < full} | std::uint32_t{sum < partial};
    }
    Row* d = &warp.row(in.d);
    if ((in.modifiers & 2) != 0) {
        copy_lanes(d[0], high, warp.mask);
    } else {
        copy_lanes(d[0], low, warp.mask);
        copy_lanes(d[1], high, warp.mask);
    }
    warp.write(in.pd[0], nonzero_mask(carry));
}

template <bool kHigh>
bool bind_imad_wide(Datapath path) {
    Instruction& out = path.out;
    const Word& word = path.word;
    path.dest(kHigh ? 1 : 2);
    path.sources_abc(SourceWidth::k32, SourceWidth::k32, SourceWidth::k64);
    const bool addend_at_32 = word.form() == 2 || word.form() == 3 || word.form() == 7;
    if (addend_at_32 && path.is_immediate()) return false;
    out.negate = word.bit(addend_at_32 ? 63 : 75);
    out.modifiers = word.bit(74) | (kHigh ? 2u : 0u);
    out.ps[0] = path.predicate(87);
    out.pd[0] = path.dest_predicate(81);
    const bool is_signed = word.bit(73);
    if (!kHigh && out.negate == 0 && out.modifiers == 0 && out.pd[0] == kPredicateSink)
        return path.execute(is_signed ? execute_imad_wide<true> : execute_imad_wide<false>);
    return path.execute(is_signed ? execute_imad_wide_carry<true> : execute_imad_wide_carry<false>);
}

template <bool kSigned, unsigned kBits>
std::int32_t element(std::uint32_t packed, unsigned i) {
    const std::uint32_t raised = packed << (32 - kBits * (i + 1));
    return kSigned ? static_cast<std::int32_t>(raised) >> (32 - kBits)
                   : static_cast<std::int32_t>(raised >> (32 - kBits));
}

/// IDP.4A: four byte products. IDP.2A: two 16-bit elements of a with two bytes of b (its lower
/// half, or its upper half for .HI). The sum wraps.
template <bool kSignedA, bool kSignedB, unsigned kFirstByte, bool k2a>
void execute_idp(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t inversion = 0u - in.negate;
    write_lanes(warp, in.d, [&](unsigned l) {
        std::uint32_t sum = (c.lane[l] ^ inversion) - inversion;
        for (unsigned i = 0; i < (k2a ? 2 : 4); ++i) {
            const std::int32_t x = element < kSignedA, k2a ? 16 : 8 > (a.lane[l], i);
            const std::int32_t y = element<kSignedB, 8>(b.lane[l], kFirstByte + i);
            sum += static_cast<std::uint32_t>(x * y);
        }
        return sum;
    });
}

template <unsigned kFirstByte, bool k2a>
Execute choose_idp(bool signed_a, bool signed_b) {
    if (signed_a)
        return signed_b ? execute_idp<true, true, kFirstByte, k2a>
                        : execute_idp<true, false, kFirstByte, k2a>;
    return signed_b ? execute_idp<false, true, kFirstByte, k2a>
                    : execute_idp<false, false, kFirstByte, k2a>;
}

bool bind_idp(Datapath path) {
    const Word& word = path.word;
    path.dest();
    path.sources_abc();
    path.out.negate = word.bit(75);
    const bool signed_a = word.bit(73), signed_b = word.bit(74);
    if (!word.bit(76))
        return !word.bit(77) && path.execute(choose_idp<0, false>(signed_a, signed_b));
    return path.execute(word.bit(77) ? choose_idp<2, true>(signed_a, signed_b)
                                     : choose_idp<0, true>(signed_a, signed_b));
}

constexpr BindEntry kEntries[] = {
    {0x024, on_vector<bind_imad>},  {0x025, on_vector<bind_imad_wide<false>>},
    {0x026, on_vector<bind_idp>},   {0x027, on_vector<bind_imad_wide<true>>},
    {0x0a4, on_uniform<bind_imad>}, {0x0a5, on_uniform<bind_imad_wide<false>>},
};

}  // namespace

std::span<const BindEntry> integer_multiply_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
