// SPDX-License-Identifier: Apache-2.0
// Three-input addition and scaled addition with carries. A negated source is its complement plus
// one, literally: the one takes part in the carry, so that a - b carries out when there is no
// borrow. In the extended forms (.X) a source is complemented only, and predicates carry in. The
// two carry-out predicates count carries: the sum is at least 2^32, at least 2^33.
// Sources: PTX ISA (add.cc, sub.cc); carries as measured by Mesa's nak compiler tests.
#include <array>
#include <bit>
#include <utility>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

/// All ones where source i of the instruction is negated.
std::uint32_t inversion(const Instruction& in, unsigned i) {
    return 0u - (in.negate >> i & 1u);
}

template <unsigned kNegate>
void execute_iadd3(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    write_lanes(warp, in.d, [&](unsigned l) {
        return (kNegate & 1 ? 0u - a.lane[l] : a.lane[l]) +
               (kNegate & 2 ? 0u - b.lane[l] : b.lane[l]) +
               (kNegate & 4 ? 0u - c.lane[l] : c.lane[l]);
    });
}

template <std::size_t... kNegate>
constexpr auto make_iadd3(std::index_sequence<kNegate...>) {
    return std::array<Execute, sizeof...(kNegate)>{execute_iadd3<kNegate>...};
}
constexpr auto kIadd3 = make_iadd3(std::make_index_sequence<8>());

/// Any combination of negation, carries in (ps) and carries out (pd).
template <bool kCarryOut>
void execute_iadd3_carry(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t na = inversion(in, 0), nb = inversion(in, 1), nc = inversion(in, 2);
    const auto ones = static_cast<std::uint32_t>(in.immediate);
    const bool extended = in.modifiers != 0;
    const std::uint32_t p = extended ? warp.read(in.ps[0]) : 0;
    const std::uint32_t q = extended ? warp.read(in.ps[1]) : 0;
    Row sum, carry;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint32_t x = a.lane[l] ^ na;
        const std::uint32_t y = x + (b.lane[l] ^ nb);
        const std::uint32_t z = y + (c.lane[l] ^ nc);
        sum.lane[l] = z + ones + (p >> l & 1) + (q >> l & 1);
        if (kCarryOut)
            carry.lane[l] =
                std::uint32_t{y < x} + std::uint32_t{z < y} + std::uint32_t{sum.lane[l] < z};
    }
    copy_lanes(warp.row(in.d), sum, warp.mask);
    if (!kCarryOut) return;
    warp.write(in.pd[0], nonzero_mask(carry));
    if (in.pd[1] != kPredicateSink)
        warp.write(in.pd[1], lane_mask([&](unsigned l) { return carry.lane[l] >= 2; }));
}

void bind_add_modifiers(Datapath& path) {
    const Word& word = path.word;
    Instruction& out = path.out;
    // An immediate has its sign in it: bit 63 is then part of the value.
    const bool negate_b = !path.is_immediate() && word.bit(63);
    out.negate = static_cast<std::uint8_t>(word.bit(72) | negate_b << 1 | word.bit(75) << 2);
    out.modifiers = word.bit(74);  // .X
    out.immediate = word.bit(74) ? 0 : std::popcount(out.negate);
    out.ps[0] = path.predicate(87);
    out.ps[1] = path.predicate(77);
    out.pd[0] = path.dest_predicate(81);
    out.pd[1] = path.dest_predicate(84);
}

bool bind_iadd3(Datapath path) {
    path.dest();
    path.sources_abc();
    bind_add_modifiers(path);
    const Instruction& out = path.out;
    const bool carry_out = out.pd[0] != kPredicateSink || out.pd[1] != kPredicateSink;
    if (carry_out) return path.execute(execute_iadd3_carry<true>);
    return path.execute(out.modifiers ? execute_iadd3_carry<false> : kIadd3[out.negate]);
}

/// UIADD3.64: the same on pairs of registers; carries are those of 64 bits.
void execute_iadd3_64(const Instruction& in, Warp& warp) {
    const Row* a = &warp.row(in.a);
    const Row* b = &warp.row(in.b);
    const Row* c = &warp.row(in.c);
    const auto wide = [&](unsigned i) { return 0ull - (in.negate >> i & 1u); };
    const std::uint64_t na = wide(0), nb = wide(1), nc = wide(2);
    const bool extended = in.modifiers != 0;
    const std::uint32_t p = extended ? warp.read(in.ps[0]) : 0;
    const std::uint32_t q = extended ? warp.read(in.ps[1]) : 0;
    Row carry;
    const auto add = [&](unsigned l) {
        const std::uint64_t x = lane64(a, l) ^ na;
        const std::uint64_t y = x + (lane64(b, l) ^ nb);
        const std::uint64_t z = y + (lane64(c, l) ^ nc);
        const std::uint64_t sum = z + in.immediate + (p >> l & 1) + (q >> l & 1);
        carry.lane[l] = std::uint32_t{y < x} + std::uint32_t{z < y} + std::uint32_t{sum < z};
        return sum;
    };
    write_lanes64(warp, in.d, add);
    warp.write(in.pd[0], nonzero_mask(carry));
    warp.write(in.pd[1], lane_mask([&](unsigned l) { return carry.lane[l] >= 2; }));
}

bool bind_uiadd3_64(Datapath path) {
    path.dest(2);
    path.sources_abc(SourceWidth::k64, SourceWidth::k64, SourceWidth::k64);
    bind_add_modifiers(path);
    return path.execute(execute_iadd3_64);
}

// LEA d, a, b, shift: (a << shift) + b. LEA.HI: the upper word of {c, a} << shift, plus b.
// LEA.HI.SX32: c is a's sign. -a negates the shifted word.
enum class LeaHalf { kLow, kHigh, kSignExtended };

template <LeaHalf kHalf>
std::uint32_t lea_word(std::uint32_t a, std::uint32_t c, unsigned shift) {
    if constexpr (kHalf == LeaHalf::kLow) return a << shift;
    if constexpr (kHalf == LeaHalf::kSignExtended)
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> (31 - shift) >> 1);
    return c << shift | a >> (31 - shift) >> 1;
}

template <LeaHalf kHalf>
void execute_lea(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const unsigned shift = in.width;
    write_lanes(warp, in.d, [&](unsigned l) {
        return lea_word<kHalf>(a.lane[l], c.lane[l], shift) + b.lane[l];
    });
}

template <LeaHalf kHalf>
void execute_lea_carry(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const unsigned shift = in.width;
    const std::uint32_t na = inversion(in, 0), nb = inversion(in, 1);
    const auto ones = static_cast<std::uint32_t>(in.immediate);
    const std::uint32_t p = in.modifiers != 0 ? warp.read(in.ps[0]) : 0;
    Row sum, carry;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint32_t x = lea_word<kHalf>(a.lane[l], c.lane[l], shift) ^ na;
        const std::uint32_t y = x + (b.lane[l] ^ nb);
        sum.lane[l] = y + ones + (p >> l & 1);
        carry.lane[l] = std::uint32_t{y < x} | std::uint32_t{sum.lane[l] < y};
    }
    copy_lanes(warp.row(in.d), sum, warp.mask);
    warp.write(in.pd[0], nonzero_mask(carry));
}

template <LeaHalf kHalf>
bool bind_lea_half(Datapath& path) {
    const Instruction& out = path.out;
    const bool plain = out.negate == 0 && out.modifiers == 0 && out.pd[0] == kPredicateSink;
    return path.execute(plain ? execute_lea<kHalf> : execute_lea_carry<kHalf>);
}

bool bind_lea(Datapath path) {
    const Word& word = path.word;
    Instruction& out = path.out;
    path.dest();
    path.sources_abc();
    out.width = static_cast<std::uint8_t>(word.bits(75, 5));
    const bool negate_b = !path.is_immediate() && word.bit(63);
    out.negate = static_cast<std::uint8_t>(word.bit(72) | negate_b << 1);
    out.modifiers = word.bit(74);
    out.immediate = word.bit(74) ? 0 : std::popcount(out.negate);
    out.ps[0] = path.predicate(87);
    out.pd[0] = path.dest_predicate(81);
    if (!word.bit(80)) return !word.bit(73) && bind_lea_half<LeaHalf::kLow>(path);
    return word.bit(73) ? bind_lea_half<LeaHalf::kSignExtended>(path)
                        : bind_lea_half<LeaHalf::kHigh>(path);
}

constexpr BindEntry kEntries[] = {
    {0x010, on_vector<bind_iadd3>},      {0x090, on_uniform<bind_iadd3>},
    {0x097, on_uniform<bind_uiadd3_64>}, {0x011, on_vector<bind_lea>},
    {0x091, on_uniform<bind_lea>},
};

}  // namespace

std::span<const BindEntry> integer_add_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
