// SPDX-License-Identifier: Apache-2.0
// Branches, convergence barriers, exits and traps. Targets relative to the next instruction stand
// in bits 34-81 in units of 4 bytes.
#include "isa/sass/semantics/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lockstep::sass {

namespace {

// --- BRA -------------------------------------------------------------------------------------

void execute_bra_uniform_predicate(const Instruction& in, Warp& warp) {
    branch(warp, condition(in, warp) & warp.read(in.ps[1]),
           static_cast<std::uint32_t>(in.immediate));
}

/// BRA.U: the whole path branches where all of its lanes do, else none does. ptxas puts it before
/// a region for few lanes, past the BSSY that follows, and tests the same predicate again there;
/// code after the region, which the paths would enter apart if lanes branched by themselves,
/// overwrites uniform registers that it has computed for all.
void execute_bra_all(const Instruction& in, Warp& warp) {
    if (condition(in, warp) == warp.active)
        branch(warp, warp.active, static_cast<std::uint32_t>(in.immediate));
}

/// BRA.U.ANY: the whole path branches where any of its lanes does (the loops that serialise R2UR
/// over lanes with different values end with it).
void execute_bra_any(const Instruction& in, Warp& warp) {
    if (condition(in, warp) != 0)
        branch(warp, warp.active, static_cast<std::uint32_t>(in.immediate));
}

/// BRA.DIV UR: where the lanes whose guard holds are not all of those in UR, the whole path
/// branches (compilers guard it with "my mask agrees with the others'", and mean the slow way if
/// any does not). BRA.CONV branches where they are.
template <bool kWhenDiverged>
void execute_bra_diverged(const Instruction& in, Warp& warp) {
    const std::uint32_t wanted = (warp.row(in.a).lane[0] ^ in.modifiers) & warp.live;
    const bool diverged = (wanted & ~condition(in, warp)) != 0;
    if (diverged != kWhenDiverged) return;
    branch(warp, warp.active, static_cast<std::uint32_t>(in.immediate));
}

bool bind_bra(Binder& binder) {
    Instruction& out = binder.out;
    bind_condition(binder);
    out.execute = execute_bra;
    const auto mode = static_cast<unsigned>(binder.word.bits(32, 2));
    if (binder.word.form() == 2) {  // BRA.U UP
        out.ps[1] = binder.source_uniform_predicate(24, 27);
        out.execute = execute_bra_uniform_predicate;
    } else if (mode == 1) {
        out.execute = binder.word.bit(84) ? execute_bra_any : execute_bra_all;
    } else if (mode == 2 || mode == 3) {
        out.a = binder.word.uniform() ? binder.source_uniform(24) : binder.literal(kAllLanes);
        const bool is_complemented = binder.word.uniform() && binder.word.bit(30);  // ~UR
        out.modifiers = is_complemented ? kAllLanes : 0;
        out.execute = mode == 2 ? execute_bra_diverged<true> : execute_bra_diverged<false>;
    }
    return bind_relative_target(binder);
}

// --- Convergence -------------------------------------------------------------------------------

void execute_bssy(const Instruction& in, Warp& warp) {
    const std::uint32_t participants = warp.mask;
    write_lanes(warp, in.d, [&](unsigned) { return participants; });
}

bool bind_bssy(Binder& binder) {
    binder.out.d = binder.barrier_register(16, true);
    binder.out.execute = execute_bssy;
    return true;
}

void execute_bsync(const Instruction& in, Warp& warp) {
    const std::uint32_t lanes = condition(in, warp);
    if (lanes == 0) return;
    const Row& barrier = warp.row(in.d);
    const std::uint32_t wanted = barrier.lane[std::countr_zero(lanes)] & warp.live;
    if ((wanted & ~lanes) == 0 && lanes == warp.active) return;
    split_off_others(warp, lanes);
    park(warp, PathStatus::kConvergence, static_cast<std::uint8_t>(in.modifiers));
    release_paths(warp);
}

bool bind_bsync(Binder& binder) {
    bind_condition(binder);
    binder.out.d = binder.barrier_register(16, false);
    binder.out.modifiers = static_cast<std::uint32_t>(binder.word.bits(16, 4));
    binder.out.execute = execute_bsync;
    return true;
}

void execute_break(const Instruction& in, Warp& warp) {
    const std::uint32_t lanes = condition(in, warp);
    Row& barrier = warp.row(in.d);
    for_each_lane(lanes, [&](unsigned l) {
        const std::uint32_t participants = barrier.lane[l];
        for_each_lane(participants, [&](unsigned other) { barrier.lane[other] &= ~(1u << l); });
    });
    release_paths(warp);
}

bool bind_break(Binder& binder) {
    bind_bsync(binder);
    binder.out.execute = execute_break;
    return true;
}

enum class WarpSync { kPlain, kExclusive, kCollective };

/// Exclusive and collective: lanes whose masks differ go on as paths of their own, each of which
/// comes here again, so that what follows (a vote) sees the lanes of one mask only. They meet at
/// the next BSYNC.
template <WarpSync kMode>
void execute_warpsync(const Instruction& in, Warp& warp) {
    std::uint32_t lanes = condition(in, warp);
    if (lanes == 0) return;
    const Row& masks = warp.row(in.a);
    const std::uint32_t mask = masks.lane[std::countr_zero(lanes)];
    if constexpr (kMode != WarpSync::kPlain) {
        const std::uint32_t others =
            lanes & ~lane_mask([&](unsigned l) { return masks.lane[l] == mask; });
        if (others != 0) warp.parked.push_back({warp.pc - 1, others, PathStatus::kReady, 0, 0});
        warp.active &= ~others;
        lanes &= ~others;
    }
    if (kMode == WarpSync::kCollective && (lanes & ~mask) != 0)
        throw Fault{.kind = FaultKind::kIllegalInstruction,
                    .what = fmt::format("the mask {:#010x} of a collective leaves out lanes that "
                                        "execute it",
                                        mask),
                    .lane = static_cast<unsigned>(std::countr_zero(lanes & ~mask))};
    const std::uint32_t wanted = mask & warp.live;
    if ((wanted & ~lanes) == 0 && lanes == warp.active) return;
    split_off_others(warp, lanes);
    if (kMode == WarpSync::kCollective)
        park_for_collective(warp, wanted, static_cast<std::uint32_t>(in.immediate));
    else
        park(warp, PathStatus::kWarpSync, 0, wanted | lanes);
    release_paths(warp);
}

bool bind_warpsync(Binder& binder) {
    constexpr Arch kHopper = 90;
    Instruction& out = binder.out;
    bind_condition(binder);
    // .EXCLUSIVE is bit 86 from sm_80 on. Bits 85-86 of sm_90: 1 .EXCLUSIVE; 2 .COLLECTIVE, which
    // ends at ENDCOLLECTIVE and whose label is what comes behind that.
    const auto mode = binder.word.bits(85, 2);
    const bool is_collective = binder.arch >= kHopper && mode == 2;
    const bool exclusive = binder.arch >= 80 && mode != 0;
    out.execute = is_collective ? execute_warpsync<WarpSync::kCollective>
                  : exclusive   ? execute_warpsync<WarpSync::kExclusive>
                                : execute_warpsync<WarpSync::kPlain>;
    if (binder.word.form() == 1)
        out.a = binder.source_register(binder.arch >= kHopper ? 24 : 32);
    else if (binder.arch >= kHopper)
        out.a = binder.literal(kAllLanes);  // .ALL
    else
        out.a = binder.flexible(SourceWidth::k32);
    return !is_collective || bind_relative_target(binder);
}

void execute_endcollective(const Instruction&, Warp& warp) {
    end_collective(warp);
}

bool bind_endcollective(Binder& binder) {
    binder.out.execute = execute_endcollective;
    return true;
}

/// Compilers put YIELD into loops that poll memory. A read from beyond the SM takes about as long
/// as a turn; one of the SM's own memory does not, and who polls that is not to fall behind those
/// that work.
void execute_yield(const Instruction&, Warp& warp) {
    const Space read = warp.access.space;
    yield(warp, read == Space::kShared || read == Space::kLocal ? 0 : kWholeTurn);
}

bool bind_yield(Binder& binder) {
    binder.out.execute = execute_yield;
    return true;
}

void execute_nothing(const Instruction&, Warp&) {}

bool bind_nothing(Binder& binder) {
    binder.out.execute = execute_nothing;
    return true;
}

/// A turn of the emulator is 256 instructions of each warp, some hundred ns. A short sleep does not
/// use it up, so that who sleeps between polls does not fall behind those that work.
void execute_nanosleep(const Instruction& in, Warp& warp) {
    const Row& time = warp.row(in.b);
    std::uint32_t longest = 0;
    for_each_lane(warp.mask, [&](unsigned l) { longest = std::max(longest, time.lane[l]); });
    yield(warp, longest);
}

bool bind_nanosleep(Binder& binder) {
    binder.source_b();
    binder.out.execute = execute_nanosleep;
    return true;
}

void execute_exit(const Instruction& in, Warp& warp) {
    exit_lanes(warp, condition(in, warp));
}

bool bind_exit(Binder& binder) {
    bind_condition(binder);
    binder.out.execute = execute_exit;
    return true;
}

// --- BMOV: between convergence barriers and registers ------------------------------------------

void execute_bmov(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    write_lanes(warp, in.d, [&](unsigned l) { return a.lane[l]; });
    if (in.modifiers != 0)  // .CLEAR
        write_lanes(warp, in.a, [](unsigned) { return 0u; });
}

/// BMOV.32{.CLEAR} Rd, Bx; only the barrier registers B0-B15 are kept.
bool bind_bmov_from_barrier(Binder& binder) {
    if (binder.word.bits(24, 6) >= 16) return false;
    binder.out.a = binder.barrier_register(24, false);
    binder.out.d =
        binder.word.form() == 7 ? binder.barrier_register(16, true) : binder.dest_register(16);
    binder.out.modifiers = binder.word.bit(84);
    binder.out.execute = execute_bmov;
    return true;
}

bool bind_bmov_to_barrier(Binder& binder) {
    if (binder.word.bits(24, 6) >= 16 || binder.word.bit(84)) return false;
    binder.out.d = binder.barrier_register(24, true);
    binder.out.a = binder.word.form() == 7 ? binder.barrier_register(16, false)
                                           : binder.flexible(SourceWidth::k32);
    binder.out.execute = execute_bmov;
    return true;
}

// --- RPCMOV: between a thread's return address, which compilers use as a scratch register, and
// registers -------------------------------------------------------------------------------------

constexpr unsigned kReturnHalf = 31;  ///< of Rpc: .LO, .HI

bool bind_rpcmov_to_return(Binder& binder) {
    binder.out.d = binder.return_register(kReturnHalf);
    binder.out.a = binder.flexible(SourceWidth::k32);
    binder.out.execute = execute_bmov;
    return true;
}

bool bind_rpcmov_from_return(Binder& binder) {
    binder.out.a = binder.return_register(kReturnHalf);
    binder.out.d = binder.dest_register(16);
    binder.out.execute = execute_bmov;
    return true;
}

// --- Traps -------------------------------------------------------------------------------------

void execute_trap(const Instruction&, Warp& warp) {
    throw Fault{.kind = FaultKind::kTrap,
                .what = "trap instruction",
                .lane = static_cast<unsigned>(std::countr_zero(warp.mask))};
}

bool bind_bpt(Binder& binder) {
    binder.out.execute = execute_trap;
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x141, bind_bsync},
    {0x142, bind_break},
    {0x145, bind_bssy},
    {0x146, bind_yield},
    {0x147, bind_bra},
    {0x148, bind_warpsync},
    {0x14d, bind_exit},
    {0x155, bind_bmov_from_barrier},
    {0x156, bind_bmov_to_barrier},
    {0x152, bind_rpcmov_to_return},
    {0x153, bind_rpcmov_from_return},
    {0x15b, bind_exit},
    {0x15c, bind_bpt},
    {0x15d, bind_nanosleep},
    {0x11b, bind_endcollective},
    {0x02d, bind_nothing},  // PREEXIT, ACQBULK: overlap of dependent launches, which run in order
    {0x02e, bind_nothing},
};

}  // namespace

std::span<const BindEntry> control_flow_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
