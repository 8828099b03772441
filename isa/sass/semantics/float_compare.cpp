// SPDX-License-Identifier: Apache-2.0
// FSEL, FMNMX, FSET, FSETP: choices between and comparisons of fp32 numbers. FMNMX returns the
// number where one source is a NaN (.NAN: a NaN), orders -0 below +0, and with .XORSIGN gives the
// result the product's sign. FSEL moves bits: a NaN keeps its payload.
// Source: PTX ISA (min, max, set, setp), what ptxas emits for them.
#include <array>
#include <utility>

#include "isa/sass/semantics/float.h"
#include "isa/sass/semantics/float_compare_rows.h"
#include "isa/sass/semantics/float_operands.h"

namespace lockstep::sass {

namespace {

template <bool signed_sources, bool flushes>
inline std::uint32_t prepare(std::uint32_t bits, Sign sign) {
    if constexpr (signed_sources) bits = sign.apply(bits);
    if constexpr (flushes) bits = flush(bits);
    return bits;
}

template <bool signed_sources, bool flushes>
void execute_fsel(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Sign sign_a = Sign::of(in, 0), sign_b = Sign::of(in, 1);
    const std::uint32_t choose_a = warp.read(in.ps[0]);
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t x = prepare<signed_sources, flushes>(a.lane[l], sign_a);
        const std::uint32_t y = prepare<signed_sources, flushes>(b.lane[l], sign_b);
        return choose_a >> l & 1 ? x : y;
    });
}

// modifiers of FMNMX
constexpr std::uint32_t kNanWins = 1;
constexpr std::uint32_t kXorSign = 2;

/// minNum of two numbers as bits; the integer order of the bits settles -0 < +0.
inline std::uint32_t smaller(std::uint32_t a, std::uint32_t b) {
    const float x = as_float(a), y = as_float(b);
    const bool a_first = x < y || (x == y && static_cast<std::int32_t>(a) < 0) || y != y;
    return a_first ? a : b;
}

template <bool signed_sources, bool flushes>
void execute_fmnmx(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Sign sign_a = Sign::of(in, 0), sign_b = Sign::of(in, 1);
    const std::uint32_t take_minimum = warp.read(in.ps[0]);
    const std::uint32_t xor_sign = in.modifiers & kXorSign ? 0x80000000u : 0u;
    const bool nan_wins = in.modifiers & kNanWins;
    write_lanes(warp, in.d, [&](unsigned l) {
        // max(a, b) = -min(-a, -b), with NaNs unaffected by the sign.
        const std::uint32_t turn = take_minimum >> l & 1 ? 0u : 0x80000000u;
        const std::uint32_t x = prepare<signed_sources, flushes>(a.lane[l], sign_a);
        const std::uint32_t y = prepare<signed_sources, flushes>(b.lane[l], sign_b);
        std::uint32_t result = smaller(x ^ turn, y ^ turn) ^ turn;
        const std::uint32_t product_sign = (a.lane[l] ^ b.lane[l]) & xor_sign;
        result = (result & ~xor_sign) | product_sign;
        const bool x_nan = (x & 0x7fffffffu) > 0x7f800000u;
        const bool y_nan = (y & 0x7fffffffu) > 0x7f800000u;
        return (nan_wins ? x_nan || y_nan : x_nan && y_nan) ? kFloatNan : result;
    });
}

#if defined(__AVX512DQ__)
/// Plain FMNMX whose predicate is PT: the host's instruction differs only where it returns a NaN.
template <bool maximum>
void execute_fmnmx_host(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    Row result;
    __mmask16 nans = 0;
    for (unsigned l = 0; l < kWarpSize; l += 16) {
        constexpr int kSignOfResult = 4;
        const __m512 r = _mm512_maskz_range_ps(
            0xffff, _mm512_castsi512_ps(_mm512_load_si512(a.lane + l)),
            _mm512_castsi512_ps(_mm512_load_si512(b.lane + l)), kSignOfResult | (maximum ? 1 : 0));
        nans |= _mm512_cmp_ps_mask(r, r, _CMP_UNORD_Q);
        _mm512_store_si512(result.lane + l, _mm512_castps_si512(r));
    }
    if (nans != 0) return execute_fmnmx<false, false>(in, warp);
    copy_lanes(warp.row(in.d), result, warp.mask);
}
#endif

/// The comparison of an FSET or FSETP; prepared: some source has a sign modifier or is flushed.
template <unsigned code, bool prepared>
inline std::uint32_t compare_sources(const Instruction& in, const Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    if constexpr (!prepared) {
        return compare_rows<code>(a, b);
    } else {
        const Sign sign_a = Sign::of(in, 0), sign_b = Sign::of(in, 1);
        // A flushed number is its sign alone; without .FTZ nothing lies below the threshold.
        const std::uint32_t smallest = static_cast<std::uint32_t>(in.immediate);
        Row x, y;
        const auto flushed = [&](std::uint32_t bits) {
            return (bits & 0x7fffffffu) < smallest ? bits & 0x80000000u : bits;
        };
        for (unsigned l = 0; l < kWarpSize; ++l) {
            x.lane[l] = flushed(sign_a.apply(a.lane[l]));
            y.lane[l] = flushed(sign_b.apply(b.lane[l]));
        }
        return compare_rows<code>(x, y);
    }
}

template <unsigned code, bool prepared>
void execute_fsetp(const Instruction& in, Warp& warp) {
    const std::uint32_t outcome = compare_sources<code, prepared>(in, warp);
    const std::uint32_t other = warp.read(in.ps[0]);
    warp.write(in.pd[1], combine(in.modifiers, ~outcome, other));
    warp.write(in.pd[0], combine(in.modifiers, outcome, other));
}

template <unsigned code, bool prepared>
void execute_fset(const Instruction& in, Warp& warp) {
    const std::uint32_t outcome = compare_sources<code, prepared>(in, warp);
    const std::uint32_t result = combine(in.modifiers, outcome, warp.read(in.ps[0]));
    write_lanes(warp, in.d, [&](unsigned l) { return result >> l & 1 ? as_bits(1.0f) : 0u; });
}

using CompareTable = std::array<std::array<Execute, 2>, kComparisons>;

template <std::size_t... code>
constexpr CompareTable fsetp_table(std::index_sequence<code...>) {
    return {{{execute_fsetp<code, false>, execute_fsetp<code, true>}...}};
}
template <std::size_t... code>
constexpr CompareTable fset_table(std::index_sequence<code...>) {
    return {{{execute_fset<code, false>, execute_fset<code, true>}...}};
}

constexpr CompareTable kFsetp = fsetp_table(std::make_index_sequence<kComparisons>());
constexpr CompareTable kFset = fset_table(std::make_index_sequence<kComparisons>());

bool bind_compare(Binder& binder, const CompareTable& table) {
    const Word& word = binder.word;
    binder.sources_ab();
    sign_modifiers_ab(binder);
    binder.out.ps[0] = binder.source_predicate(87, 90);
    binder.out.modifiers = static_cast<std::uint32_t>(word.bits(74, 2));
    const bool flushes = word.bit(80);
    binder.out.immediate = flushes ? 0x00800000u : 0u;
    const bool prepared = flushes || binder.out.negate != 0 || binder.out.absolute != 0;
    binder.out.execute = table[word.bits(76, 4)][prepared];
    return binder.out.modifiers != 3;
}

}  // namespace

bool bind_fsel(Binder& binder) {
    binder.out.d = binder.dest_register();
    binder.sources_ab();
    sign_modifiers_ab(binder);
    binder.out.ps[0] = binder.source_predicate(87, 90);
    const bool is_signed = binder.out.negate != 0 || binder.out.absolute != 0;
    constexpr Execute kVariant[2][2] = {{execute_fsel<false, false>, execute_fsel<false, true>},
                                        {execute_fsel<true, false>, execute_fsel<true, true>}};
    binder.out.execute = kVariant[is_signed][binder.word.bit(80)];
    return true;
}

bool bind_fmnmx(Binder& binder) {
    const Word& word = binder.word;
    binder.out.d = binder.dest_register();
    binder.sources_ab();
    sign_modifiers_ab(binder);
    binder.out.ps[0] = binder.source_predicate(87, 90);
    binder.out.modifiers = (word.bit(81) ? kNanWins : 0) | (word.bit(82) ? kXorSign : 0);
    const bool is_signed = binder.out.negate != 0 || binder.out.absolute != 0;
    constexpr Execute kVariant[2][2] = {{execute_fmnmx<false, false>, execute_fmnmx<false, true>},
                                        {execute_fmnmx<true, false>, execute_fmnmx<true, true>}};
    binder.out.execute = kVariant[is_signed][word.bit(80)];
#if defined(__AVX512DQ__)
    const bool constant = binder.out.ps[0].index == kPredicatePT;
    if (constant && !is_signed && binder.out.modifiers == 0 && !word.bit(80))
        binder.out.execute =
            binder.out.ps[0].negate ? execute_fmnmx_host<true> : execute_fmnmx_host<false>;
#endif
    const bool is_a = word.bit(65);  // .IS_A: not emitted by any compiler we know
    return !is_a;
}

bool bind_fset(Binder& binder) {
    binder.out.d = binder.dest_register();
    return bind_compare(binder, kFset);
}

bool bind_fsetp(Binder& binder) {
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.out.pd[1] = binder.dest_predicate(84);
    return bind_compare(binder, kFsetp);
}

}  // namespace lockstep::sass
