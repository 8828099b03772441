// SPDX-License-Identifier: Apache-2.0
// sm_90's additions with minimum and maximum ("DPX") on one 32-bit or two 16-bit integers: VIADD,
// VIMNMX, VIMNMX3, VIADDMNMX. Not executed: fields that no compiler was seen to set.
// Source: the fields are those that ptxas 13.0 sets for CUDA's __vi* functions, which say the rest.
#include <algorithm>
#include <limits>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/integer_handlers.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

/// Element types of the VI* family.
template <typename T>
T element(std::uint32_t value, unsigned i) {
    return static_cast<T>(value >> (sizeof(T) == 2 ? 16 * i : 0));
}
template <typename T>
std::uint32_t placed(T value, unsigned i) {
    if constexpr (sizeof(T) == 2)
        return std::uint32_t{static_cast<std::uint16_t>(value)} << (16 * i);
    else
        return static_cast<std::uint32_t>(value);
}

/// in.modifiers of the VI* family.
constexpr unsigned kRelu = 1;
constexpr unsigned kNegateB = 2;

enum class Vi { kTwo, kThree, kSum };

/// The minimum (where the predicate holds) or maximum of a and b, of a, b and c, or of a + b and c;
/// with .RELU at least zero. Sums wrap.
template <typename T, Vi kOperation>
void execute_vimnmx(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    const std::uint32_t minimum = warp.read(in.ps[0]);
    const std::uint32_t flip_b = (in.modifiers & kNegateB) != 0 ? ~0u : 0u;
    const T floor = (in.modifiers & kRelu) != 0 ? T{0} : std::numeric_limits<T>::min();
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t is_maximum = ~minimum >> l & 1;
        const auto choose = [&](T x, T y) {
            return (std::uint32_t{x < y} ^ is_maximum) != 0 ? x : y;
        };
        std::uint32_t result = 0;
        for (unsigned i = 0; i < 4 / sizeof(T); ++i) {
            const T x = element<T>(a.lane[l], i), y = element<T>(b.lane[l], i);
            T value;
            if constexpr (kOperation == Vi::kSum)
                value = static_cast<T>(static_cast<std::uint32_t>(x) +
                                       (static_cast<std::uint32_t>(y) ^ flip_b) - flip_b);
            else
                value = choose(x, y);
            if constexpr (kOperation != Vi::kTwo) value = choose(value, element<T>(c.lane[l], i));
            result |= placed<T>(std::max(value, floor), i);
        }
        return result;
    });
}

/// Which of a and b VIMNMX chose: a where they are equal. Of two elements pd[0] is the lower's.
template <typename T>
void execute_vimnmx_predicates(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const std::uint32_t minimum = warp.read(in.ps[0]);
    std::uint32_t chosen[2] = {};
    for (unsigned i = 0; i < 4 / sizeof(T); ++i) {
        chosen[i] = lane_mask([&](unsigned l) {
            const T x = element<T>(a.lane[l], i), y = element<T>(b.lane[l], i);
            return (minimum >> l & 1) != 0 ? x <= y : x >= y;
        });
    }
    execute_vimnmx<T, Vi::kTwo>(in, warp);
    warp.write(in.pd[0], chosen[0]);
    warp.write(in.pd[1], chosen[1]);
}

/// Which of the operands at bits 32 and 64 are negated: bit 63, where there is no immediate,
/// and 75.
struct Negations {
    bool at_32, at_64;
    explicit Negations(const Datapath& path)
        : at_32(!path.is_immediate() && path.word.bit(63)), at_64(path.word.bit(75)) {}
};

/// Bits 72 signed, 73 two 16-bit elements, 76 .RELU; 74 is not known. The caller has dealt with
/// negations.
template <template <typename> typename Handler>
bool bind_vi(Datapath& path, bool negates_b) {
    const Word& word = path.word;
    if (word.bit(74) || word.bits(77, 4) != 0) return false;
    path.out.ps[0] = path.predicate(87);
    path.out.modifiers = (word.bit(76) ? kRelu : 0) | (negates_b ? kNegateB : 0);
    if (word.bit(73))
        return path.execute(word.bit(72) ? Handler<std::int16_t>::execute
                                         : Handler<std::uint16_t>::execute);
    return path.execute(word.bit(72) ? Handler<std::int32_t>::execute
                                     : Handler<std::uint32_t>::execute);
}

template <typename T>
struct Two {
    static constexpr Execute execute = execute_vimnmx<T, Vi::kTwo>;
};
template <typename T>
struct TwoWithPredicates {
    static constexpr Execute execute = execute_vimnmx_predicates<T>;
};
template <typename T>
struct Three {
    static constexpr Execute execute = execute_vimnmx<T, Vi::kThree>;
};
template <typename T>
struct Sum {
    static constexpr Execute execute = execute_vimnmx<T, Vi::kSum>;
};

bool bind_vimnmx(Datapath path) {
    path.dest();
    path.sources_ab();
    path.out.pd[0] = path.dest_predicate(81);
    path.out.pd[1] = path.dest_predicate(84);
    const Negations negations(path);
    if (negations.at_32 || negations.at_64) return false;
    if (path.out.pd[0] != kPredicateSink || path.out.pd[1] != kPredicateSink)
        return bind_vi<TwoWithPredicates>(path, false);
    const bool plain = path.word.bits(73, 8) == 0 && path.word.bits(87, 3) == kPredicatePT;
    if (plain) return path.execute(integer_extremum(path.word.bit(72), path.word.bit(90)));
    return bind_vi<Two>(path, false);
}

bool bind_vimnmx3(Datapath path) {
    path.dest();
    path.sources_abc();
    const Negations negations(path);
    if (negations.at_32 || negations.at_64) return false;
    return bind_vi<Three>(path, false);
}

/// Of the sum's operands ptxas 13 negates b: -Rb at 32, or at 64 where c is the flexible operand.
bool bind_viaddmnmx(Datapath path) {
    path.dest();
    path.sources_abc();
    const unsigned form = path.word.form();
    const bool b_is_at_64 = form == 2 || form == 3 || form == 7;
    const Negations negations(path);
    const bool negates_c = b_is_at_64 ? negations.at_32 : negations.at_64;
    if (negates_c) return false;
    return bind_vi<Sum>(path, b_is_at_64 ? negations.at_64 : negations.at_32);
}

/// a + b or a - b, or those of their halves (bit 73).
template <typename T, bool kNegatesB>
void execute_viadd(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        std::uint32_t result = 0;
        for (unsigned i = 0; i < 4 / sizeof(T); ++i) {
            const std::uint32_t x = element<T>(a.lane[l], i), y = element<T>(b.lane[l], i);
            result |= placed<T>(static_cast<T>(kNegatesB ? x - y : x + y), i);
        }
        return result;
    });
}

bool bind_viadd(Datapath path) {
    path.dest();
    path.sources_ab();
    if (path.word.bit(72) || path.word.bits(74, 7) != 0) return false;
    const bool negates_b = Negations(path).at_32;
    if (path.word.bit(73))
        return path.execute(negates_b ? execute_viadd<std::uint16_t, true>
                                      : execute_viadd<std::uint16_t, false>);
    return path.execute(negates_b ? execute_viadd<std::uint32_t, true>
                                  : execute_viadd<std::uint32_t, false>);
}

constexpr BindEntry kEntries[] = {
    {0x00f, on_vector<bind_vimnmx3>, 90, 90},
    {0x036, on_vector<bind_viadd>, 90, 90},
    {0x046, on_vector<bind_viaddmnmx>, 90, 90},
    {0x048, on_vector<bind_vimnmx>, 90, 90},
};

}  // namespace

std::span<const BindEntry> dpx_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
