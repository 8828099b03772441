// SPDX-License-Identifier: Apache-2.0
// Bytes and bits of a register: PRMT, SGXT, BMSK, BREV, POPC, FLO. Source: PTX ISA (prmt, szext,
// bmsk, brev, popc, bfind). UPRMT's unnamed mode bit is not executed.
#include <algorithm>
#include <bit>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

/// Selectors of PRMT's named modes by the two low bits of the control operand; as in the default
/// mode a selector has one digit a byte, 0-3 for a and 4-7 for c.
constexpr std::uint16_t kPrmtSelector[7][4] = {
    {},                                // default: the control operand is the selector
    {0x3210, 0x4321, 0x5432, 0x6543},  // F4E
    {0x5670, 0x6701, 0x7012, 0x0123},  // B4E
    {0x0000, 0x1111, 0x2222, 0x3333},  // RC8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ECL
    {0x0000, 0x1110, 0x2210, 0x3210},  // ECR
    {0x1010, 0x3232, 0x1010, 0x3232},  // RC16
};

/// One lane, any selector; digit bit 3 replicates the sign of the byte.
std::uint32_t permute(std::uint32_t a, std::uint32_t c, std::uint32_t selector) {
    const std::uint64_t bytes = a | std::uint64_t{c} << 32;
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t digit = selector >> (4 * i);
        const auto byte = static_cast<std::uint32_t>(bytes >> (8 * (digit & 7)) & 0xff);
        const std::uint32_t sign = byte >> 7 != 0 ? 0xffu : 0u;
        result |= ((digit & 8) != 0 ? sign : byte) << (8 * i);
    }
    return result;
}

void execute_prmt(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    if (in.modifiers == 0) {
        write_lanes(warp, in.d,
                    [&](unsigned l) { return permute(a.lane[l], c.lane[l], b.lane[l]); });
        return;
    }
    const auto& selector = kPrmtSelector[in.modifiers];
    write_lanes(warp, in.d,
                [&](unsigned l) { return permute(a.lane[l], c.lane[l], selector[b.lane[l] & 3]); });
}

/// The selector is known when binding.
void execute_prmt_immediate(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& c = warp.row(in.c);
#if defined(__AVX512BW__)
    // Byte shuffles work within 128 bits: lane l adds 4 * (l mod 4) to its byte numbers; numbers
    // from 0x80 give zero.
    const __m512i lane = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    const __m512i from_a = _mm512_or_si512(
        lane, _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(in.immediate))));
    const __m512i from_c = _mm512_or_si512(
        lane, _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(in.immediate >> 32))));
    Row& d = warp.row(in.d);
    const auto half = [&](unsigned first) {
        return _mm512_or_si512(_mm512_shuffle_epi8(_mm512_load_si512(a.lane + first), from_a),
                               _mm512_shuffle_epi8(_mm512_load_si512(c.lane + first), from_c));
    };
    const __m512i low = half(0), high = half(16);
    _mm512_mask_store_epi32(d.lane, static_cast<__mmask16>(warp.mask), low);
    _mm512_mask_store_epi32(d.lane + 16, static_cast<__mmask16>(warp.mask >> 16), high);
#else
    const std::uint32_t selector = in.modifiers;
    write_lanes(warp, in.d, [&](unsigned l) { return permute(a.lane[l], c.lane[l], selector); });
#endif
}

/// Shuffle controls for a (low word) and c (high word) of a selector without sign replication.
std::uint64_t shuffle_controls(std::uint32_t selector) {
    std::uint64_t controls = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const std::uint64_t digit = selector >> (4 * i) & 7;
        const std::uint64_t a = digit < 4 ? digit : 0x80;
        const std::uint64_t c = digit < 4 ? 0x80 : digit - 4;
        controls |= a << (8 * i) | c << (8 * i + 32);
    }
    return controls;
}

bool bind_prmt(Datapath path) {
    const Word& word = path.word;
    const auto mode = static_cast<std::uint32_t>(word.bits(72, 3));
    if (mode == 7 || (path.uniform() && mode != 0)) return false;
    path.dest();
    path.sources_abc();
    path.out.modifiers = mode;
    if (word.form() == 4) {
        const auto control = static_cast<std::uint32_t>(word.bits(32, 32));
        const std::uint32_t selector = mode == 0 ? control : kPrmtSelector[mode][control & 3];
        if ((selector & 0x8888) == 0) {
            path.out.modifiers = selector;
            path.out.immediate = shuffle_controls(selector);
            return path.execute(execute_prmt_immediate);
        }
    }
    return path.execute(execute_prmt);
}

// SGXT d, a, b: the low b bits of a, sign-extended (or zero-extended: .U32). b is clamped at 32, or
// taken modulo 32 (.W).
template <bool kSigned, bool kWrap>
void execute_sgxt(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t bits = kWrap ? b.lane[l] & 31 : std::min(b.lane[l], 32u);
        const std::uint32_t unused = (32 - bits) & 31;
        const std::uint32_t raised = a.lane[l] << unused;
        const std::uint32_t value =
            kSigned ? static_cast<std::uint32_t>(static_cast<std::int32_t>(raised) >> unused)
                    : raised >> unused;
        return bits == 0 ? 0 : value;
    });
}

bool bind_sgxt(Datapath path) {
    path.dest();
    path.sources_ab();
    const bool wrap = path.word.bit(75);
    if (path.word.bit(73))
        return path.execute(wrap ? execute_sgxt<true, true> : execute_sgxt<true, false>);
    return path.execute(wrap ? execute_sgxt<false, true> : execute_sgxt<false, false>);
}

// BMSK d, a, b: b ones from bit a upward. Positions and widths of 32 and more are clamped, or taken
// modulo 32 (.W).
template <bool kWrap>
void execute_bmsk(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t first = kWrap ? a.lane[l] & 31 : std::min(a.lane[l], 32u);
        const std::uint32_t width = kWrap ? b.lane[l] & 31 : std::min(b.lane[l], 32u);
        const std::uint32_t ones = width == 32 ? ~0u : (1u << (width & 31)) - 1;
        return first == 32 ? 0 : ones << (first & 31);
    });
}

bool bind_bmsk(Datapath path) {
    path.dest();
    path.sources_ab();
    return path.execute(path.word.bit(75) ? execute_bmsk<true> : execute_bmsk<false>);
}

void execute_brev(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        std::uint32_t x = b.lane[l];
        x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
        x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
        x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
        x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
        return x >> 16 | x << 16;
    });
}

bool bind_brev(Datapath path) {
    path.dest();
    path.source_b();
    return path.execute(execute_brev);
}

void bind_inversion(Datapath& path) {
    path.out.negate = !path.is_immediate() && path.word.bit(63);
}

void execute_popc(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    const std::uint32_t inversion = 0u - in.negate;
    write_lanes(warp, in.d, [&](unsigned l) {
        return static_cast<std::uint32_t>(std::popcount(b.lane[l] ^ inversion));
    });
}

bool bind_popc(Datapath path) {
    path.dest();
    path.source_b();
    bind_inversion(path);
    return path.execute(execute_popc);
}

// FLO: position of the highest one, or with .SH how far left it may be shifted; all ones where
// there is none. The signed form looks for the highest bit that differs from the sign.
template <bool kSigned, bool kShiftAmount>
void execute_flo(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    const std::uint32_t inversion = 0u - in.negate;
    Row found;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        found.lane[l] = b.lane[l] ^ inversion;
        if (kSigned) found.lane[l] ^= 0u - (found.lane[l] >> 31);
    }
    write_lanes(warp, in.d, [&](unsigned l) {
        const auto zeros = static_cast<std::uint32_t>(std::countl_zero(found.lane[l]));
        return zeros == 32 ? ~0u : kShiftAmount ? zeros : 31 - zeros;
    });
}

bool bind_flo(Datapath path) {
    path.dest();
    path.source_b();
    bind_inversion(path);
    if (path.dest_predicate(81) != kPredicateSink) return false;
    const bool shift_amount = path.word.bit(74);
    if (path.word.bit(73))
        return path.execute(shift_amount ? execute_flo<true, true> : execute_flo<true, false>);
    return path.execute(shift_amount ? execute_flo<false, true> : execute_flo<false, false>);
}

constexpr BindEntry kEntries[] = {
    {0x016, on_vector<bind_prmt>},  {0x01a, on_vector<bind_sgxt>},  {0x01b, on_vector<bind_bmsk>},
    {0x100, on_vector<bind_flo>},   {0x101, on_vector<bind_brev>},  {0x109, on_vector<bind_popc>},
    {0x096, on_uniform<bind_prmt>}, {0x09a, on_uniform<bind_sgxt>}, {0x09b, on_uniform<bind_bmsk>},
    {0x0bd, on_uniform<bind_flo>},  {0x0be, on_uniform<bind_brev>}, {0x0bf, on_uniform<bind_popc>},
};

}  // namespace

std::span<const BindEntry> bit_field_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
