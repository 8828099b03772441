// SPDX-License-Identifier: Apache-2.0
// HMNMX2, VHMNMX, HSET2, HSETP2: choice between and comparison of packed fp16 or bf16 numbers,
// which are compared in fp32. VHMNMX chooses among three (sm_90: ptxas makes it of two HMNMX2 of
// the same kind). HSET2 writes all ones or 1.0 (.BF) a half; HSETP2 writes a predicate a half, or
// with .H_AND one for both halves and its complement. NaNs and zeros as in FMNMX.
#include <array>
#include <utility>

#include "isa/sass/semantics/float_compare_rows.h"
#include "isa/sass/semantics/half.h"
#include "isa/sass/semantics/half_operands.h"
#include "isa/sass/semantics/half_rows.h"

namespace lockstep::sass {

namespace {

// Instruction::immediate
constexpr std::uint32_t kFlush = 1, kNanWins = 2, kXorSign = 4, kOnes = 8, kHalvesAnd = 16;
constexpr unsigned kOperationShift = 8;

template <HalfType type>
inline std::uint32_t source_pair(const Row& row, unsigned l, HalfSource source, bool flushes) {
    const std::uint32_t pair = source.apply(row.lane[l]);
    return flushes ? flush_pair<type>(pair) : pair;
}

template <HalfType type>
inline bool is_nan(std::uint32_t half) {
    return (half & 0x7fffu) > HalfConstants<type>::kInfinity;
}

/// Halves in an order of unsigned integers: -0 below +0.
inline std::uint32_t ordered(std::uint32_t half) {
    return half & 0x8000u ? ~half & 0xffffu : half | 0x8000u;
}

template <HalfType type>
inline std::uint32_t choose_half(std::uint32_t a, std::uint32_t b, bool minimum, bool nan_wins) {
    const bool a_nan = is_nan<type>(a), b_nan = is_nan<type>(b);
    const bool a_first = minimum ? ordered(a) < ordered(b) : ordered(a) > ordered(b);
    const std::uint32_t number = b_nan || (a_first && !a_nan) ? a : b;
    return (nan_wins ? a_nan || b_nan : a_nan && b_nan) ? HalfConstants<type>::kNan : number;
}

template <HalfType type>
void execute_hmnmx2(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const HalfSource source_a = HalfSource::of(in, 0), source_b = HalfSource::of(in, 1);
    const auto flags = static_cast<std::uint32_t>(in.immediate);
    const std::uint32_t take_minimum = warp.read(in.ps[0]);
    write_lanes(warp, in.d, [&](unsigned l) {
        const bool minimum = take_minimum >> l & 1;
        const std::uint32_t x = source_pair<type>(a, l, source_a, flags & kFlush);
        const std::uint32_t y = source_pair<type>(b, l, source_b, flags & kFlush);
        const std::uint32_t raw_sign = a.lane[l] ^ b.lane[l];
        const auto one = [&](unsigned shift) {
            std::uint32_t half = choose_half<type>(x >> shift & 0xffffu, y >> shift & 0xffffu,
                                                   minimum, flags & kNanWins);
            if (flags & kXorSign && !is_nan<type>(half))
                half = (half & 0x7fffu) | (raw_sign >> shift & 0x8000u);
            return half;
        };
        return one(16) << 16 | one(0);
    });
}

template <HalfType type>
void execute_vhmnmx(const Instruction& in, Warp& warp) {
    const Row* const rows[] = {&warp.row(in.a), &warp.row(in.b), &warp.row(in.c)};
    const HalfSource sources[] = {HalfSource::of(in, 0), HalfSource::of(in, 1),
                                  HalfSource::of(in, 2)};
    const auto flags = static_cast<std::uint32_t>(in.immediate);
    const std::uint32_t take_minimum = warp.read(in.ps[0]);
    write_lanes(warp, in.d, [&](unsigned l) {
        const bool minimum = take_minimum >> l & 1;
        std::uint32_t pairs[3];
        for (unsigned i = 0; i < 3; ++i)
            pairs[i] = source_pair<type>(*rows[i], l, sources[i], flags & kFlush);
        const auto one = [&](unsigned shift) {
            const auto half = [&](unsigned i) { return pairs[i] >> shift & 0xffffu; };
            const std::uint32_t two =
                choose_half<type>(half(0), half(1), minimum, flags & kNanWins);
            return choose_half<type>(two, half(2), minimum, flags & kNanWins);
        };
        return one(16) << 16 | one(0);
    });
}

/// Bit l: the comparison of the high or low halves of lane l.
template <HalfType type, unsigned code>
inline std::uint32_t compare_halves(const Instruction& in, const Warp& warp, unsigned shift) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const HalfSource source_a = HalfSource::of(in, 0), source_b = HalfSource::of(in, 1);
    const bool flushes = in.immediate & kFlush;
    Row x, y;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const auto value = [&](const Row& row, HalfSource source) {
            const std::uint32_t pair = source_pair<type>(row, l, source, flushes);
            return as_bits(static_cast<float>(widen<type>(pair >> shift)));
        };
        x.lane[l] = value(a, source_a);
        y.lane[l] = value(b, source_b);
    }
    return compare_rows<code>(x, y);
}

template <HalfType type, unsigned code>
void execute_hset2(const Instruction& in, Warp& warp) {
    const auto operation = static_cast<unsigned>(in.immediate >> kOperationShift);
    const std::uint32_t other = warp.read(in.ps[0]);
    const std::uint32_t low = combine(operation, compare_halves<type, code>(in, warp, 0), other);
    const std::uint32_t high = combine(operation, compare_halves<type, code>(in, warp, 16), other);
    const std::uint32_t yes = in.immediate & kOnes ? HalfConstants<type>::kOne : 0xffffu;
    write_lanes(warp, in.d, [&](unsigned l) {
        return (low >> l & 1 ? yes : 0u) | (high >> l & 1 ? yes << 16 : 0u);
    });
}

template <HalfType type, unsigned code>
void execute_hsetp2(const Instruction& in, Warp& warp) {
    const auto operation = static_cast<unsigned>(in.immediate >> kOperationShift);
    const std::uint32_t other = warp.read(in.ps[0]);
    std::uint32_t first = compare_halves<type, code>(in, warp, 0);
    std::uint32_t second = compare_halves<type, code>(in, warp, 16);
    if (in.immediate & kHalvesAnd) {
        first &= second;
        second = ~first;
    }
    warp.write(in.pd[1], combine(operation, second, other));
    warp.write(in.pd[0], combine(operation, first, other));
}

using Table = std::array<std::array<Execute, kComparisons>, 2>;

template <std::size_t... code>
constexpr Table hset2_table(std::index_sequence<code...>) {
    return {{{execute_hset2<HalfType::kF16, code>...}, {execute_hset2<HalfType::kBf16, code>...}}};
}
template <std::size_t... code>
constexpr Table hsetp2_table(std::index_sequence<code...>) {
    return {
        {{execute_hsetp2<HalfType::kF16, code>...}, {execute_hsetp2<HalfType::kBf16, code>...}}};
}
constexpr Table kHset2 = hset2_table(std::make_index_sequence<kComparisons>());
constexpr Table kHsetp2 = hsetp2_table(std::make_index_sequence<kComparisons>());

bool bind_compare(Binder& binder, const Table& table, std::uint32_t flag_of_bit_71) {
    const Word& word = binder.word;
    binder.sources_ac();
    const auto type = word.bits(64, 2);
    if (!bind_half_modifiers_ab(binder, type == 0)) return false;
    binder.out.ps[0] = binder.source_predicate(87, 90);
    const auto operation = static_cast<unsigned>(word.bits(69, 2));
    binder.out.immediate = (word.bit(80) ? kFlush : 0) | (word.bit(71) ? flag_of_bit_71 : 0) |
                           operation << kOperationShift;
    binder.out.execute = table[type >> 1][word.bits(76, 4)];
    return operation != 3 && (type & 1) == 0;
}

}  // namespace

bool bind_hmnmx2(Binder& binder) {
    const Word& word = binder.word;
    binder.out.d = binder.dest_register();
    binder.sources_ab();
    if (!bind_half_modifiers_ab(binder)) return false;
    binder.out.ps[0] = binder.source_predicate(87, 90);
    binder.out.immediate =
        (word.bit(80) ? kFlush : 0) | (word.bit(81) ? kNanWins : 0) | (word.bit(82) ? kXorSign : 0);
    binder.out.execute =
        word.bit(85) ? execute_hmnmx2<HalfType::kBf16> : execute_hmnmx2<HalfType::kF16>;
    const bool is_a = word.bit(65), is_f32 = word.bit(78);
    return !is_a && !is_f32;
}

bool bind_vhmnmx(Binder& binder) {
    const Word& word = binder.word;
    const unsigned form = word.form();
    if (form == 2 || form == 3 || form == 7) return false;  // c is never the flexible operand
    binder.out.d = binder.dest_register();
    binder.sources_abc();
    if (!bind_half_modifiers_ab(binder) || !half_source(binder, 2, 76, 84, 83)) return false;
    binder.out.ps[0] = binder.source_predicate(87, 90);
    binder.out.immediate = (word.bit(80) ? kFlush : 0) | (word.bit(81) ? kNanWins : 0);
    binder.out.execute =
        word.bit(85) ? execute_vhmnmx<HalfType::kBf16> : execute_vhmnmx<HalfType::kF16>;
    // .XORSIGN of three: ptxas was not seen to set it.
    const bool is_xor_sign = word.bit(82), is_other_type = word.bit(78);
    return !is_xor_sign && !is_other_type;
}

bool bind_hset2(Binder& binder) {
    binder.out.d = binder.dest_register();
    return bind_compare(binder, kHset2, kOnes);
}

bool bind_hsetp2(Binder& binder) {
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.out.pd[1] = binder.dest_predicate(84);
    return bind_compare(binder, kHsetp2, kHalvesAnd);
}

}  // namespace lockstep::sass
