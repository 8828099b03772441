// SPDX-License-Identifier: Apache-2.0
// Integer comparison into predicates (ISETP), logic on predicates (PLOP3) and moves between the
// predicates and a register (P2R, R2P). A second destination gets the same with the comparison
// inverted. Source: PTX ISA (setp, lop3), nvdisasm for the operands.
#include <array>
#include <utility>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

enum Comparison : unsigned {
    kFalse,
    kLess,
    kEqual,
    kLessEqual,
    kGreater,
    kNotEqual,
    kGreaterEqual,
    kTrue
};
enum Combination : unsigned { kAnd, kOr, kXor };

/// One lane per bit of the result.
template <unsigned kComparison, bool kSigned>
std::uint32_t compare(const Row& a, const Row& b) {
    if constexpr (kComparison == kFalse) return 0;
    if constexpr (kComparison == kTrue) return kAllLanes;
#if defined(__AVX512F__)
    constexpr int kPredicate[8] = {0,
                                   _MM_CMPINT_LT,
                                   _MM_CMPINT_EQ,
                                   _MM_CMPINT_LE,
                                   _MM_CMPINT_NLE,
                                   _MM_CMPINT_NE,
                                   _MM_CMPINT_NLT,
                                   0};
    const auto half = [&](unsigned first) {
        const __m512i x = _mm512_load_si512(a.lane + first);
        const __m512i y = _mm512_load_si512(b.lane + first);
        constexpr int kImmediate = kPredicate[kComparison];
        if constexpr (kSigned)
            return static_cast<std::uint32_t>(_mm512_cmp_epi32_mask(x, y, kImmediate));
        else
            return static_cast<std::uint32_t>(_mm512_cmp_epu32_mask(x, y, kImmediate));
    };
    return half(0) | half(16) << 16;
#else
    using T = std::conditional_t<kSigned, std::int32_t, std::uint32_t>;
    return lane_mask([&](unsigned l) {
        const T x = static_cast<T>(a.lane[l]), y = static_cast<T>(b.lane[l]);
        switch (kComparison) {
            case kLess:
                return x < y;
            case kEqual:
                return x == y;
            case kLessEqual:
                return x <= y;
            case kGreater:
                return x > y;
            case kNotEqual:
                return x != y;
            default:
                return x >= y;
        }
    });
#endif
}

std::uint32_t combine(unsigned combination, std::uint32_t value, std::uint32_t accumulator) {
    switch (combination) {
        case kAnd:
            return value & accumulator;
        case kOr:
            return value | accumulator;
        default:
            return value ^ accumulator;
    }
}

/// kExtended: the comparison of the upper words; where they are equal the comparison of the lower
/// words (ps[1]) decides.
template <unsigned kComparison, bool kSigned, bool kExtended>
void execute_isetp(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    std::uint32_t value = compare<kComparison, kSigned>(a, b);
    if constexpr (kExtended && kComparison != kFalse && kComparison != kTrue) {
        const std::uint32_t equal = compare<kEqual, false>(a, b);
        value = (value & ~equal) | (warp.read(in.ps[1]) & equal);
    }
    const std::uint32_t accumulator = warp.read(in.ps[0]);
    warp.write(in.pd[0], combine(in.modifiers, value, accumulator));
    if (in.pd[1] != kPredicateSink)
        warp.write(in.pd[1], combine(in.modifiers, ~value, accumulator));
}

template <std::size_t... kIndex>
constexpr auto make_isetp(std::index_sequence<kIndex...>) {
    return std::array<Execute, sizeof...(kIndex)>{
        execute_isetp<(kIndex >> 2), (kIndex >> 1 & 1) != 0, (kIndex & 1) != 0>...};
}
/// By bits 76-78 (comparison), 73 (signed), 72 (extended).
constexpr auto kIsetp = make_isetp(std::make_index_sequence<32>());

bool bind_isetp(Datapath path) {
    const Word& word = path.word;
    Instruction& out = path.out;
    path.sources_ab();
    out.pd[0] = path.dest_predicate(81);
    out.pd[1] = path.dest_predicate(84);
    out.ps[0] = path.predicate(87);
    out.ps[1] = path.predicate(68);
    out.modifiers = static_cast<std::uint32_t>(word.bits(74, 2));
    if (out.modifiers == 3) return false;
    return path.execute(kIsetp[word.bits(76, 3) << 2 | word.bit(73) << 1 | word.bit(72)]);
}

/// in.modifiers of PLOP3: two truth tables, the third source predicate and its negation.
struct Plop3 {
    std::uint8_t table[2];
    std::uint8_t third;
    std::uint8_t negate;
};

std::uint32_t lookup(std::uint8_t table, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 8; ++i) {
        const std::uint32_t minterm = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        result |= table >> i & 1 ? minterm : 0u;
    }
    return result;
}

std::uint32_t signs(const Row& row) {
    return lane_mask([&](unsigned l) { return row.lane[l] >> 31 != 0; });
}

/// The last kRegisters of the three sources are signs of registers.
template <unsigned kRegisters>
void execute_plop3(const Instruction& in, Warp& warp) {
    const auto plop3 = std::bit_cast<Plop3>(in.modifiers);
    std::uint32_t a, b, c;
    if constexpr (kRegisters == 3)
        a = signs(warp.row(in.a));
    else
        a = warp.read(in.ps[0]);
    if constexpr (kRegisters >= 1)
        b = signs(warp.row(in.b));
    else
        b = warp.read(in.ps[1]);
    if constexpr (kRegisters >= 2)
        c = signs(warp.row(in.c));
    else
        c = warp.read({plop3.third, plop3.negate != 0});
    const std::uint32_t second = lookup(plop3.table[1], a, b, c);
    warp.write(in.pd[0], lookup(plop3.table[0], a, b, c));
    if (in.pd[1] != kPredicateSink) warp.write(in.pd[1], second);
}

template <unsigned kRegisters>
bool bind_plop3(Datapath path) {
    const Word& word = path.word;
    Instruction& out = path.out;
    PredicateSource third = path.predicate(68);
    // The form without registers may take a uniform predicate as its third source.
    if (kRegisters == 0 && word.bit(67))
        third.index = static_cast<std::uint8_t>(kUniformPredicate0 + word.bits(68, 3));
    const auto table =
        kRegisters == 0 ? word.bits(64, 3) | word.bits(72, 5) << 3 : word.bits(72, 8);
    out.modifiers = std::bit_cast<std::uint32_t>(
        Plop3{{static_cast<std::uint8_t>(table), static_cast<std::uint8_t>(word.bits(16, 8))},
              third.index,
              third.negate});
    out.ps[0] = path.predicate(87);
    out.ps[1] = path.predicate(77);
    out.pd[0] = path.dest_predicate(81);
    out.pd[1] = path.dest_predicate(84);
    if (kRegisters == 3) out.a = path.source(24);
    if (kRegisters >= 1) path.source_b();
    if (kRegisters >= 2) out.c = path.source(64);
    return path.execute(execute_plop3<kRegisters>);
}

// P2R d, PR, a, mask: byte (.B0-.B3) of a with the bits of mask replaced by P0-P6.
void execute_p2r(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const unsigned shift = in.width;
    const std::uint32_t* p = warp.predicate + in.modifiers;
    write_lanes(warp, in.d, [&](unsigned l) {
        std::uint32_t bits = 0;
        for (unsigned i = 0; i < 7; ++i) bits |= (p[i] >> l & 1) << i;
        const std::uint32_t mask = b.lane[l] & 0x7f;
        return (a.lane[l] & ~(mask << shift)) | (bits & mask) << shift;
    });
}

// R2P PR, a, mask: the predicates that mask names are set from a byte of a.
void execute_r2p(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    for (unsigned i = 0; i < 7; ++i) {
        const std::uint32_t chosen =
            lane_mask([&](unsigned l) { return (b.lane[l] >> i & 1) != 0; });
        const std::uint32_t value =
            lane_mask([&](unsigned l) { return (a.lane[l] >> (in.width + i) & 1) != 0; });
        std::uint32_t& p = warp.predicate[in.modifiers + i];
        const std::uint32_t written = chosen & warp.mask;
        p = (p & ~written) | (value & written);
    }
}

template <bool kToRegister>
bool bind_predicates_register(Datapath path) {
    path.sources_ab();
    path.out.width = static_cast<std::uint8_t>(8 * path.word.bits(76, 2));
    path.out.modifiers = path.uniform() ? kUniformPredicate0 : 0;
    if (!kToRegister) return path.execute(execute_r2p);
    path.dest();
    return path.execute(execute_p2r);
}

constexpr BindEntry kEntries[] = {
    {0x003, on_vector<bind_predicates_register<true>>},
    {0x004, on_vector<bind_predicates_register<false>>},
    {0x00c, on_vector<bind_isetp>},
    {0x01c, on_vector<bind_plop3<0>>},
    {0x01d, on_vector<bind_plop3<1>>},
    {0x01e, on_vector<bind_plop3<2>>},
    {0x01f, on_vector<bind_plop3<3>>},
    {0x083, on_uniform<bind_predicates_register<true>>},
    {0x084, on_uniform<bind_predicates_register<false>>},
    {0x08c, on_uniform<bind_isetp>},
    {0x09c, on_uniform<bind_plop3<0>>},
    {0x09d, on_uniform<bind_plop3<1>>},
    {0x09e, on_uniform<bind_plop3<2>>},
    {0x09f, on_uniform<bind_plop3<3>>},
};

}  // namespace

std::span<const BindEntry> predicate_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
