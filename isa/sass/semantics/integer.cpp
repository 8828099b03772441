// SPDX-License-Identifier: Apache-2.0
// Moves, selection, minimum, maximum and absolute value of 32-bit integers, and the instructions
// that do nothing but take time (NOP, PMTRIG, DEPBAR). MOV's byte mask and every other field that
// compilers leave at its default are not modelled. Source: PTX ISA, nvdisasm.
#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/integer_handlers.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

void execute_move_b(const Instruction& in, Warp& warp) {
    copy_lanes(warp.row(in.d), warp.row(in.b), warp.mask);
}

namespace {

bool bind_mov(Datapath path) {
    path.dest();
    path.source_b();
    // The vector form has a write mask of bytes that compilers always leave full; UMOV has none.
    if (!path.uniform() && path.word.bits(72, 4) != 0xf) return false;
    return path.execute(execute_move_b);
}

// SEL d, a, b, p: a where p holds, b elsewhere. The two copies together write each lane once and
// the second reads only lanes that the first has not written, so d may be a or b.
void execute_sel(const Instruction& in, Warp& warp) {
    const std::uint32_t chosen = warp.read(in.ps[0]);
    copy_lanes(warp.row(in.d), warp.row(in.b), warp.mask & ~chosen);
    copy_lanes(warp.row(in.d), warp.row(in.a), warp.mask & chosen);
}

bool bind_sel(Datapath path) {
    path.dest();
    path.sources_ab();
    path.out.ps[0] = path.predicate(87);
    return path.execute(execute_sel);
}

void execute_iabs(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        const std::uint32_t sign = 0u - (b.lane[l] >> 31);
        return (b.lane[l] ^ sign) - sign;
    });
}

bool bind_iabs(Datapath path) {
    path.dest();
    path.source_b();
    return path.execute(execute_iabs);
}

template <typename T, bool kMaximum>
void execute_extremum(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) {
        const T x = static_cast<T>(a.lane[l]), y = static_cast<T>(b.lane[l]);
        return static_cast<std::uint32_t>((x < y) == kMaximum ? y : x);
    });
}

// The predicate chooses by lane: minimum where it holds, maximum elsewhere.
template <typename T>
void execute_imnmx(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const std::uint32_t minimum = warp.read(in.ps[0]);
    write_lanes(warp, in.d, [&](unsigned l) {
        const T x = static_cast<T>(a.lane[l]), y = static_cast<T>(b.lane[l]);
        const std::uint32_t take_x = std::uint32_t{x < y} ^ (~minimum >> l & 1);
        return take_x != 0 ? a.lane[l] : b.lane[l];
    });
}

}  // namespace

Execute integer_extremum(bool is_signed, bool maximum) {
    if (is_signed)
        return maximum ? execute_extremum<std::int32_t, true>
                       : execute_extremum<std::int32_t, false>;
    return maximum ? execute_extremum<std::uint32_t, true> : execute_extremum<std::uint32_t, false>;
}

namespace {

bool bind_imnmx(Datapath path) {
    path.dest();
    path.sources_ab();
    path.out.ps[0] = path.predicate(87);
    const bool is_signed = path.word.bit(73);
    if (path.word.bits(87, 3) == kPredicatePT)
        return path.execute(integer_extremum(is_signed, path.out.ps[0].negate));
    return path.execute(is_signed ? execute_imnmx<std::int32_t> : execute_imnmx<std::uint32_t>);
}

bool bind_nop(Datapath path) {
    path.out.execute = [](const Instruction&, Warp&) {};
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x001, on_vector<bind_nop>},  // PMTRIG
    {0x002, on_vector<bind_mov>},   {0x007, on_vector<bind_sel>},  {0x013, on_vector<bind_iabs>},
    {0x017, on_vector<bind_imnmx>}, {0x082, on_uniform<bind_mov>}, {0x087, on_uniform<bind_sel>},
    {0x118, on_vector<bind_nop>},  // NOP
};

}  // namespace

std::span<const BindEntry> integer_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
