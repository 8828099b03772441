// SPDX-License-Identifier: Apache-2.0
// DADD, DMUL, DFMA, DSETP: IEEE 754 binary64 with one rounding in any of four modes, subnormals
// kept. A NaN source is passed on quieted, the first in the order a, b, c; where none is a NaN the
// result is 0xfff80000_00000000: the compilers' own fp64 subroutines produce these NaNs, PTX leaves
// them open. DSETP.MIN and .MAX (codes 0 and 15) choose for fmin and fmax: the first predicate is
// "take a", the second "both are NaNs", after which compiled code quiets b.
#include <array>
#include <cmath>
#include <utility>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/directed_rows.h"
#include "isa/sass/semantics/float_compare_rows.h"
#include "isa/sass/semantics/float_operands.h"
#include "isa/sass/semantics/float_types.h"
#include "isa/sass/semantics/scaled_double.h"
#include "isa/sass/semantics/subnormal_watch.h"

namespace lockstep::sass {

namespace {

using numerics::Rounding;

struct DoubleRow {
    alignas(64) double lane[kWarpSize];
};

template <bool is_signed>
inline void load_doubles(DoubleRow& out, const Row* rows, Sign sign) {
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::uint64_t bits = lane64(rows, l);
        out.lane[l] = as_double(is_signed ? sign.apply64(bits) : bits);
    }
}

/// The NaN that an operation on these sources returns.
double nan_result(double a, double b, double c) {
    for (const double source : {a, b, c})
        if (source != source) return as_double(as_bits(source) | 0x0008'0000'0000'0000ull);
    return as_double(kDoubleNan);
}

struct Add {
    static constexpr unsigned kSources = 2;
    static double apply(double a, double b, double) { return a + b; }
    static void scaled(double* out, const double* a, const double* b, const double*, Rounding r) {
        alignas(64) double one[kWarpSize];
        for (double& lane : one) lane = 1;
        scaled_fma(out, a, one, b, r);
    }
    static void directed(double* out, const double* a, const double* b, const double*, Rounding r) {
        add_rows(out, a, b, r);
    }
};
struct Multiply {
    static constexpr unsigned kSources = 2;
    static double apply(double a, double b, double) { return a * b; }
    static void scaled(double* out, const double* a, const double* b, const double*, Rounding r) {
        // A zero of the product's sign, which it keeps.
        alignas(64) double zero[kWarpSize];
        for (unsigned l = 0; l < kWarpSize; ++l)
            zero[l] = as_double((as_bits(a[l]) ^ as_bits(b[l])) & 1ull << 63);
        scaled_fma(out, a, b, zero, r);
    }
    static void directed(double* out, const double* a, const double* b, const double*, Rounding r) {
        multiply_rows(out, a, b, r);
    }
};
struct Fma {
    static constexpr unsigned kSources = 3;
    static double apply(double a, double b, double c) { return std::fma(a, b, c); }
    static void scaled(double* out, const double* a, const double* b, const double* c, Rounding r) {
        scaled_fma(out, a, b, c, r);
    }
    static void directed(double* out, const double* a, const double* b, const double* c,
                         Rounding r) {
        fma_rows(out, a, b, c, r);
    }
};

template <typename Operation, bool is_signed, bool is_directed>
void execute_arithmetic(const Instruction& in, Warp& warp) {
    DoubleRow a, b, c, result;
    load_doubles<is_signed>(a, &warp.row(in.a), Sign::of(in, 0));
    load_doubles<is_signed>(b, &warp.row(in.b), Sign::of(in, 1));
    if constexpr (Operation::kSources == 3)
        load_doubles<is_signed>(c, &warp.row(in.c), Sign::of(in, 2));
    const DoubleRow& third = Operation::kSources == 3 ? c : a;
    if (subnormal_watch.is_on()) [[unlikely]] {
        Operation::scaled(
            result.lane, a.lane, b.lane, third.lane,
            is_directed ? static_cast<Rounding>(in.modifiers) : Rounding::kNearestEven);
    } else if constexpr (is_directed) {
        Operation::directed(result.lane, a.lane, b.lane, third.lane,
                            static_cast<Rounding>(in.modifiers));
    } else {
        for (unsigned l = 0; l < kWarpSize; ++l)
            result.lane[l] = Operation::apply(a.lane[l], b.lane[l], third.lane[l]);
    }
    // Which NaN the host returns depends on the instruction its compiler chose.
    std::uint64_t nans = 0;
    for (unsigned l = 0; l < kWarpSize; ++l) nans |= result.lane[l] != result.lane[l] ? 1u : 0u;
    if (nans != 0) [[unlikely]] {
        for (unsigned l = 0; l < kWarpSize; ++l)
            if (result.lane[l] != result.lane[l])
                result.lane[l] = nan_result(a.lane[l], b.lane[l], third.lane[l]);
    }
    write_lanes64(warp, in.d, [&](unsigned l) { return as_bits(result.lane[l]); });
}

template <typename Operation>
bool bind_arithmetic(Binder& binder) {
    const Rounding rounding = rounding_at_78(binder.word);
    const bool is_signed = binder.out.negate != 0 || binder.out.absolute != 0;
    const bool is_directed = rounding != Rounding::kNearestEven;
    binder.out.d = binder.dest_register(16, 2);
    binder.out.modifiers = static_cast<std::uint32_t>(rounding);
    constexpr Execute kVariant[2][2] = {
        {execute_arithmetic<Operation, false, false>, execute_arithmetic<Operation, false, true>},
        {execute_arithmetic<Operation, true, false>, execute_arithmetic<Operation, true, true>}};
    binder.out.execute = kVariant[is_signed][is_directed];
    return true;
}

bool bind_dadd(Binder& binder) {
    // Alone of its kin it also has the register at bits 64-71.
    binder.sources_ac(SourceWidth::kF64, 64);
    sign_modifiers_ab(binder, binder.flexible_is_register());
    return bind_arithmetic<Add>(binder);
}

bool bind_dmul(Binder& binder) {
    binder.sources_ab(SourceWidth::kF64);
    sign_modifiers_ab(binder);
    return bind_arithmetic<Multiply>(binder);
}

bool bind_dfma(Binder& binder) {
    binder.sources_abc(SourceWidth::kF64);
    sign_modifiers_abc(binder);
    return bind_arithmetic<Fma>(binder);
}

constexpr unsigned kMinimum = 0, kMaximum = 15;

/// First: take a; second: both are NaNs.
template <unsigned code>
inline void choose(const DoubleRow& a, const DoubleRow& b, std::uint32_t& first,
                   std::uint32_t& second) {
    first = lane_mask([&](unsigned l) {
        const double x = a.lane[l], y = b.lane[l];
        const bool zeros = x == y && std::signbit(x) == (code == kMinimum);
        const bool before = code == kMinimum ? x < y : x > y;
        return before || zeros || (y != y && x == x);
    });
    second =
        lane_mask([&](unsigned l) { return a.lane[l] != a.lane[l] && b.lane[l] != b.lane[l]; });
}

template <unsigned code>
void execute_dsetp(const Instruction& in, Warp& warp) {
    DoubleRow a, b;
    load_doubles<true>(a, &warp.row(in.a), Sign::of(in, 0));
    load_doubles<true>(b, &warp.row(in.b), Sign::of(in, 1));
    std::uint32_t first = 0, second = 0;
    if constexpr (code == kMinimum || code == kMaximum) {
        choose<code>(a, b, first, second);
    } else {
        first = lane_mask([&](unsigned l) { return compare<code>(a.lane[l], b.lane[l]); });
        second = ~first;
    }
    const std::uint32_t other = warp.read(in.ps[0]);
    warp.write(in.pd[1], combine(in.modifiers, second, other));
    warp.write(in.pd[0], combine(in.modifiers, first, other));
}

template <std::size_t... code>
constexpr std::array<Execute, kComparisons> dsetp_table(std::index_sequence<code...>) {
    return {execute_dsetp<code>...};
}
constexpr auto kDsetp = dsetp_table(std::make_index_sequence<kComparisons>());

bool bind_dsetp(Binder& binder) {
    const Word& word = binder.word;
    binder.sources_ac(SourceWidth::kF64);
    sign_modifiers_ab(binder);
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.out.pd[1] = binder.dest_predicate(84);
    binder.out.ps[0] = binder.source_predicate(87, 90);
    binder.out.modifiers = static_cast<std::uint32_t>(word.bits(74, 2));
    binder.out.execute = kDsetp[word.bits(76, 4)];
    return binder.out.modifiers != 3;
}

constexpr BindEntry kEntries[] = {
    {0x028, bind_dmul}, {0x029, bind_dadd}, {0x02a, bind_dsetp}, {0x02b, bind_dfma}};

}  // namespace

std::span<const BindEntry> double_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
