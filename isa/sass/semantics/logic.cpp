// SPDX-License-Identifier: Apache-2.0
// LOP3: any function of three bits, given as its truth table (bit a*4 + b*2 + c of the table). With
// a destination predicate the result's being nonzero is combined with a source predicate by OR, or
// by AND (.PAND). Source: PTX ISA (lop3).
#include <array>
#include <utility>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

/// Result of one truth table; the compiler reduces the eight minterms.
template <unsigned kTable>
std::uint32_t lookup(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t result = 0;
    if constexpr (kTable & 0x01) result |= ~a & ~b & ~c;
    if constexpr (kTable & 0x02) result |= ~a & ~b & c;
    if constexpr (kTable & 0x04) result |= ~a & b & ~c;
    if constexpr (kTable & 0x08) result |= ~a & b & c;
    if constexpr (kTable & 0x10) result |= a & ~b & ~c;
    if constexpr (kTable & 0x20) result |= a & ~b & c;
    if constexpr (kTable & 0x40) result |= a & b & ~c;
    if constexpr (kTable & 0x80) result |= a & b & c;
    return result;
}

#if defined(__AVX512F__)
template <unsigned kTable>
__m512i lookup_half(const Row& a, const Row& b, const Row& c, unsigned first) {
    return _mm512_ternarylogic_epi32(_mm512_load_si512(a.lane + first),
                                     _mm512_load_si512(b.lane + first),
                                     _mm512_load_si512(c.lane + first), kTable);
}
#endif

template <unsigned kTable, bool kPredicate>
void execute_lop3(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
#if defined(__AVX512F__)
    const __m512i low = lookup_half<kTable>(a, b, c, 0);
    const __m512i high = lookup_half<kTable>(a, b, c, 16);
    Row& d = warp.row(in.d);
    _mm512_mask_store_epi32(d.lane, static_cast<__mmask16>(warp.mask), low);
    _mm512_mask_store_epi32(d.lane + 16, static_cast<__mmask16>(warp.mask >> 16), high);
    if constexpr (!kPredicate) return;
    const std::uint32_t nonzero = static_cast<std::uint32_t>(_mm512_test_epi32_mask(low, low)) |
                                  static_cast<std::uint32_t>(_mm512_test_epi32_mask(high, high))
                                      << 16;
#else
    if constexpr (!kPredicate) {
        write_lanes(warp, in.d,
                    [&](unsigned l) { return lookup<kTable>(a.lane[l], b.lane[l], c.lane[l]); });
        return;
    }
    Row result;
    for (unsigned l = 0; l < kWarpSize; ++l)
        result.lane[l] = lookup<kTable>(a.lane[l], b.lane[l], c.lane[l]);
    copy_lanes(warp.row(in.d), result, warp.mask);
    const std::uint32_t nonzero = nonzero_mask(result);
#endif
    const std::uint32_t p = warp.read(in.ps[0]);
    warp.write(in.pd[0], in.modifiers != 0 ? nonzero & p : nonzero | p);
}

template <bool kPredicate, std::size_t... kTable>
constexpr auto make_lop3(std::index_sequence<kTable...>) {
    return std::array<Execute, sizeof...(kTable)>{execute_lop3<kTable, kPredicate>...};
}
constexpr auto kLop3 = make_lop3<false>(std::make_index_sequence<256>());
constexpr auto kLop3Predicate = make_lop3<true>(std::make_index_sequence<256>());

bool bind_lop3(Datapath path) {
    path.dest();
    path.sources_abc();
    path.out.pd[0] = path.dest_predicate(81);
    path.out.ps[0] = path.predicate(87);
    path.out.modifiers = path.word.bit(80);  // .PAND
    const auto table = path.word.bits(72, 8);
    return path.execute(path.out.pd[0] == kPredicateSink ? kLop3[table] : kLop3Predicate[table]);
}

constexpr BindEntry kEntries[] = {
    {0x012, on_vector<bind_lop3>},
    {0x092, on_uniform<bind_lop3>},
};

}  // namespace

std::span<const BindEntry> logic_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
