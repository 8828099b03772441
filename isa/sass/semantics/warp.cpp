// SPDX-License-Identifier: Apache-2.0
// Exchange between the lanes of a warp: VOTE, MATCH, REDUX, SHFL, ELECT, and R2UR from a lane to a
// uniform register. Only lanes that execute the instruction take part; SHFL from a lane that does
// not reads that lane's register all the same (PTX leaves it undefined). Source: PTX ISA.
#include <algorithm>
#include <bit>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

enum Vote : unsigned { kVoteAll, kVoteAny, kVoteEqual };

bool vote(unsigned mode, std::uint32_t ballot, std::uint32_t voters) {
    switch (mode) {
        case kVoteAll:
            return ballot == voters;
        case kVoteAny:
            return ballot != 0;
        default:
            return ballot == 0 || ballot == voters;
    }
}

void execute_vote(const Instruction& in, Warp& warp) {
    const std::uint32_t ballot = warp.read(in.ps[0]) & warp.mask;
    const bool result = vote(in.modifiers, ballot, warp.mask);
    write_lanes(warp, in.d, [&](unsigned) { return ballot; });
    warp.write(in.pd[0], result ? kAllLanes : 0u);
}

/// VOTEU: the ballot goes to a uniform register, the result to a uniform predicate.
void execute_voteu(const Instruction& in, Warp& warp) {
    const std::uint32_t ballot = warp.read(in.ps[0]) & warp.mask;
    broadcast(warp.row(in.d), ballot);
    warp.predicate[in.pd[0]] = vote(in.modifiers, ballot, warp.mask) ? kAllLanes : 0u;
}

bool bind_vote(Binder& binder) {
    Instruction& out = binder.out;
    out.d = binder.dest_register();
    out.pd[0] = binder.dest_predicate(81);
    out.ps[0] = binder.source_predicate(87, 90);
    out.modifiers = static_cast<std::uint32_t>(binder.word.bits(72, 2));
    out.execute = execute_vote;
    return out.modifiers <= kVoteEqual;
}

bool bind_voteu(Binder& binder) {
    Instruction& out = binder.out;
    out.d = binder.dest_uniform();
    out.pd[0] = binder.dest_uniform_predicate(81);
    out.ps[0] = binder.source_predicate(87, 90);
    out.modifiers = static_cast<std::uint32_t>(binder.word.bits(72, 2));
    out.execute = execute_voteu;
    return out.modifiers <= kVoteEqual;
}

/// Lanes whose value (one or two rows) is that of lane l.
template <bool k64>
std::uint32_t same_as(const Row* value, unsigned l) {
    return lane_mask([&](unsigned i) {
        return value[0].lane[i] == value[0].lane[l] &&
               (!k64 || value[1].lane[i] == value[1].lane[l]);
    });
}

template <bool k64>
void execute_match_any(const Instruction& in, Warp& warp) {
    const Row* a = &warp.row(in.a);
    Row result{};
    for (std::uint32_t left = warp.mask; left != 0;) {
        const std::uint32_t same =
            same_as<k64>(a, static_cast<unsigned>(std::countr_zero(left))) & warp.mask;
        for_each_lane(same, [&](unsigned l) { result.lane[l] = same; });
        left &= ~same;
    }
    copy_lanes(warp.row(in.d), result, warp.mask);
}

/// The mask where all are equal, zero and a false predicate where not.
template <bool k64>
void execute_match_all(const Instruction& in, Warp& warp) {
    const std::uint32_t same =
        same_as<k64>(&warp.row(in.a), static_cast<unsigned>(std::countr_zero(warp.mask)));
    const bool all = (same & warp.mask) == warp.mask;
    const std::uint32_t mask = all ? warp.mask : 0u;
    write_lanes(warp, in.d, [&](unsigned) { return mask; });
    warp.write(in.pd[0], all ? kAllLanes : 0u);
}

bool bind_match(Binder& binder) {
    const bool is_64 = binder.word.bit(73), any = binder.word.bit(79);
    Instruction& out = binder.out;
    out.d = binder.dest_register();
    out.a = binder.source_register(24, is_64 ? 2 : 1);
    out.pd[0] = binder.dest_predicate(81);
    if (any)
        out.execute = is_64 ? execute_match_any<true> : execute_match_any<false>;
    else
        out.execute = is_64 ? execute_match_all<true> : execute_match_all<false>;
    return true;
}

template <typename T>
std::uint32_t reduce(unsigned operation, const Row& row, std::uint32_t mask) {
    T result = static_cast<T>(row.lane[std::countr_zero(mask)]);
    for_each_lane(mask & (mask - 1), [&](unsigned l) {
        const T x = static_cast<T>(row.lane[l]);
        switch (operation) {
            case 0:
                result &= x;
                break;
            case 1:
                result |= x;
                break;
            case 2:
                result ^= x;
                break;
            case 3:
                result = static_cast<T>(static_cast<std::uint32_t>(result) +
                                        static_cast<std::uint32_t>(x));
                break;
            case 4:
                result = std::min(result, x);
                break;
            default:
                result = std::max(result, x);
                break;
        }
    });
    return static_cast<std::uint32_t>(result);
}

template <typename T>
void execute_redux(const Instruction& in, Warp& warp) {
    broadcast(warp.row(in.d), reduce<T>(in.modifiers, warp.row(in.a), warp.mask));
}

bool bind_redux(Binder& binder) {
    Instruction& out = binder.out;
    out.d = binder.dest_uniform();
    out.a = binder.source_register(24);
    out.modifiers = static_cast<std::uint32_t>(binder.word.bits(78, 3));
    out.execute = binder.word.bit(73) ? execute_redux<std::int32_t> : execute_redux<std::uint32_t>;
    return out.modifiers <= 5;
}

enum Shuffle : unsigned { kIndex, kUp, kDown, kButterfly };

/// SHFL p, d, a, b, c: c holds the clamp (bits 0-4) and the segment mask (8-12). Lanes whose source
/// lies outside their segment keep their own value and get a false predicate.
template <unsigned kMode>
void execute_shfl(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    alignas(128) std::uint32_t source[kWarpSize];
    Row valid, result;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint32_t segment = c.lane[l] >> 8 & 31;
        const std::uint32_t clamp = c.lane[l] & 31;
        const std::uint32_t offset = b.lane[l] & 31;
        const std::uint32_t first = l & segment;
        const auto last = static_cast<std::int32_t>(first | (clamp & ~segment));
        std::int32_t from = 0;
        if constexpr (kMode == kIndex)
            from = static_cast<std::int32_t>(first | (offset & ~segment));
        if constexpr (kMode == kUp) from = static_cast<std::int32_t>(l - offset);
        if constexpr (kMode == kDown) from = static_cast<std::int32_t>(l + offset);
        if constexpr (kMode == kButterfly) from = static_cast<std::int32_t>(l ^ offset);
        const bool inside = kMode == kUp ? from >= last : from <= last;
        valid.lane[l] = inside ? kAllLanes : 0u;
        source[l] = inside ? static_cast<std::uint32_t>(from) : l;
    }
#if defined(__AVX512F__)
    const __m512i low = _mm512_load_si512(a.lane), high = _mm512_load_si512(a.lane + 16);
    for (unsigned first = 0; first < kWarpSize; first += 16)
        _mm512_store_si512(result.lane + first,
                           _mm512_permutex2var_epi32(low, _mm512_load_si512(source + first), high));
#else
    for (unsigned l = 0; l < kWarpSize; ++l) result.lane[l] = a.lane[source[l] & 31];
#endif
    copy_lanes(warp.row(in.d), result, warp.mask);
    if (in.pd[0] != kPredicateSink) warp.write(in.pd[0], nonzero_mask(valid));
}

bool bind_shfl(Binder& binder) {
    const Word& word = binder.word;
    const unsigned form = word.form();
    Instruction& out = binder.out;
    out.d = binder.dest_register();
    out.a = binder.source_register(24);
    out.b = form == 4 || form == 7 ? binder.literal(static_cast<std::uint32_t>(word.bits(53, 5)))
                                   : binder.source_register(32);
    out.c = form == 2 || form == 7 ? binder.literal(static_cast<std::uint32_t>(word.bits(40, 13)))
                                   : binder.source_register(64);
    out.pd[0] = binder.dest_predicate(81);
    constexpr Execute kShuffle[] = {execute_shfl<kIndex>, execute_shfl<kUp>, execute_shfl<kDown>,
                                    execute_shfl<kButterfly>};
    out.execute = kShuffle[word.bits(58, 2)];
    return true;
}

/// R2UR p, d, a: the value of the lowest lane that takes part; p tells the lanes that hold another.
/// .OR adds them to p. What compilers do with p (vote with masks that may differ; loops over the
/// distinct values of 64-bit operands) fits only this.
void execute_r2ur(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const std::uint32_t value = a.lane[std::countr_zero(warp.mask)];
    if (in.pd[0] != kPredicateSink) {
        const std::uint32_t before = in.modifiers != 0 ? warp.predicate[in.pd[0]] : 0;
        warp.write(in.pd[0], before | lane_mask([&](unsigned l) { return a.lane[l] != value; }));
    }
    broadcast(warp.row(in.d), value);
}

bool bind_r2ur(Binder& binder) {
    binder.out.d = binder.dest_uniform();
    binder.out.a = binder.source_register(24);
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.out.execute = execute_r2ur;
    binder.out.modifiers = binder.word.bit(84);
    return true;
}

/// ELECT: one lane, the lowest of those whose predicate holds; its number goes to a uniform
/// register.
void execute_elect(const Instruction& in, Warp& warp) {
    const std::uint32_t candidates = warp.read(in.ps[0]) & warp.mask;
    const std::uint32_t elected = candidates & (0u - candidates);
    if (elected != 0)
        broadcast(warp.row(in.d), static_cast<std::uint32_t>(std::countr_zero(elected)));
    warp.write(in.pd[0], elected);
}

bool bind_elect(Binder& binder) {
    if (binder.word.uniform()) return false;
    binder.out.d = binder.dest_uniform();
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.out.ps[0] = binder.source_predicate(87, 90);
    binder.out.execute = execute_elect;
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x006, bind_vote},         {0x086, bind_voteu},         {0x1a1, bind_match},
    {0x1c4, bind_redux},        {0x189, bind_shfl},          {0x1c2, bind_r2ur, 75, 89},
    {0x0ca, bind_r2ur, 90, 90}, {0x02f, bind_elect, 90, 90},
};

}  // namespace

std::span<const BindEntry> warp_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
