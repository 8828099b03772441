// SPDX-License-Identifier: Apache-2.0
// Branches, calls, returns, convergence barriers. Targets relative to the next instruction stand in
// bits 34-81 in units of 4 bytes. Return addresses are code addresses in a register pair; the
// CUDA ABI keeps them in R20:R21. LEPC without an offset yields its own address (ptxas computes
// return addresses from it), LEPC with one the address of that target.
#include <fmt/format.h>

#include <bit>

#include "isa/sass/binder.h"
#include "isa/sass/convergence.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kReturnAddressRegister = 20;

/// Lanes for which the guard and the instruction's own predicate hold.
std::uint32_t condition(const Instruction& in, const Warp& warp) {
    return warp.mask & warp.read(in.ps[0]);
}

/// Offset of a target in bytes. sm_90 has 8 more bits below the field, at 16-23 (nvdisasm, probed).
std::int64_t target_offset(const Binder& binder) {
    const std::int64_t field = binder.word.signed_bits(34, 48);
    if (binder.arch < 90) return field * 4;
    return (field * 256 + static_cast<std::int64_t>(binder.word.bits(16, 8))) * 4;
}

/// Sets out.immediate to the code index of a relative target; false where no code lies there.
bool bind_relative_target(Binder& binder) {
    const std::int64_t bytes =
        (std::int64_t{binder.index} + 1) * Word::kBytes + target_offset(binder);
    if (bytes < 0 || bytes % Word::kBytes != 0) return false;
    binder.out.immediate = static_cast<std::uint64_t>(bytes) / Word::kBytes;
    return binder.out.immediate < binder.code_count();
}

void bind_condition(Binder& binder) {
    binder.out.ps[0] = binder.source_predicate(87, 90);
}

// --- BRA -------------------------------------------------------------------------------------

void execute_bra(const Instruction& in, Warp& warp) {
    branch(warp, condition(in, warp), static_cast<std::uint32_t>(in.immediate));
}

void execute_bra_uniform_predicate(const Instruction& in, Warp& warp) {
    branch(warp, condition(in, warp) & warp.read(in.ps[1]),
           static_cast<std::uint32_t>(in.immediate));
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
    } else if (mode == 1 && binder.word.bit(84)) {
        out.execute = execute_bra_any;
    } else if (mode == 2 || mode == 3) {
        out.a = binder.word.uniform() ? binder.source_uniform(24) : binder.literal(kAllLanes);
        const bool is_complemented = binder.word.uniform() && binder.word.bit(30);  // ~UR
        out.modifiers = is_complemented ? kAllLanes : 0;
        out.execute = mode == 2 ? execute_bra_diverged<true> : execute_bra_diverged<false>;
    }
    return bind_relative_target(binder);
}

// --- Jumps to computed addresses ---------------------------------------------------------------

[[noreturn]] void invalid_pc(std::uint64_t address, unsigned lane) {
    throw Fault{.kind = FaultKind::kInvalidPc,
                .what = fmt::format("jump to {:#x}, where there is no code", address),
                .lane = lane,
                .address = address};
}

/// Code index of a code address, or a fault.
std::uint32_t index_of(const Warp& warp, std::uint64_t address, unsigned lane) {
    const std::uint64_t offset = address - Program::kCodeBase;
    if (offset % Word::kBytes != 0 ||
        offset / Word::kBytes >= warp.cta->launch->program->words().size())
        invalid_pc(address, lane);
    return static_cast<std::uint32_t>(offset / Word::kBytes);
}

/// Sends each lane to its address. System calls are performed at once and return to R20:R21.
void jump_each(Warp& warp, std::uint32_t lanes, std::uint64_t (&address)[kWarpSize]) {
    constexpr std::uint64_t kSystemCallEnd = Program::kSystemCallBase + 0x10000;
    const auto is_system_call = [&](unsigned l) {
        return address[l] >= Program::kSystemCallBase && address[l] < kSystemCallEnd;
    };
    std::uint32_t calls = 0;
    for_each_lane(lanes, [&](unsigned l) { calls |= std::uint32_t{is_system_call(l)} << l; });
    while (calls != 0) {
        const std::uint64_t callee = address[std::countr_zero(calls)];
        std::uint32_t same = 0;
        for_each_lane(calls, [&](unsigned l) { same |= std::uint32_t{address[l] == callee} << l; });
        warp.mask = same;
        const auto number =
            static_cast<unsigned>((callee - Program::kSystemCallBase) / Word::kBytes);
        warp.cta->launch->environment->system_call(number, warp);
        const Row* back = &warp.register_row(kReturnAddressRegister);
        for_each_lane(same, [&](unsigned l) { address[l] = lane64(back, l); });
        calls &= ~same;
    }
    std::uint32_t target[kWarpSize] = {};
    for_each_lane(lanes, [&](unsigned l) { target[l] = index_of(warp, address[l], l); });
    branch_each(warp, lanes, target);
}

/// Target: in.immediate (an absolute base address) + the 64-bit register pair a, per lane.
void execute_jump(const Instruction& in, Warp& warp) {
    const std::uint32_t lanes = condition(in, warp);
    if (lanes == 0) return;
    const Row* a = &warp.row(in.a);
    std::uint64_t address[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) address[l] = in.immediate + lane64(a, l);
    jump_each(warp, lanes, address);
}

std::uint64_t base_address(const Binder& binder, bool relative) {
    return (relative ? Program::address_of(binder.index + 1) : 0) +
           static_cast<std::uint64_t>(target_offset(binder));
}

/// BRX, JMX, RET, CALL with a register (R or UR) at 24; `relative` adds the next pc.
bool bind_register_jump(Binder& binder, bool relative, bool uniform) {
    bind_condition(binder);
    binder.out.a = uniform ? binder.source_uniform(24, 2) : binder.source_register(24, 2);
    binder.out.immediate = base_address(binder, relative);
    binder.out.execute = execute_jump;
    return true;
}

bool bind_brx(Binder& binder) {
    return bind_register_jump(binder, true, false);
}
bool bind_brxu(Binder& binder) {
    return bind_register_jump(binder, true, true);
}
bool bind_jmx(Binder& binder) {
    return bind_register_jump(binder, false, false);
}
bool bind_jmxu(Binder& binder) {
    return bind_register_jump(binder, false, true);
}
bool bind_ret(Binder& binder) {
    return bind_register_jump(binder, !binder.word.bit(85), binder.word.uniform());
}

/// CALL.REL: an immediate target is an ordinary branch; ABI calls keep the return address
/// themselves.
bool bind_call_relative(Binder& binder) {
    if (binder.word.form() == 1) return bind_register_jump(binder, true, false);
    if (binder.word.uniform()) return bind_register_jump(binder, true, true);
    bind_condition(binder);
    binder.out.execute = execute_bra;
    return bind_relative_target(binder);
}

/// CALL.ABS and JMP: a 64-bit address in a register pair, a constant or the instruction itself.
bool bind_absolute(Binder& binder) {
    bind_condition(binder);
    binder.out.execute = execute_jump;
    binder.out.immediate = 0;
    switch (binder.word.form()) {
        case 1:
            return bind_register_jump(binder, false, false);
        case 5:
            binder.out.a = binder.flexible(SourceWidth::k64);
            return !binder.word.uniform();
        default:
            if (binder.word.uniform()) return bind_register_jump(binder, false, true);
            binder.out.a = binder.literal64(static_cast<std::uint64_t>(target_offset(binder)));
            return true;
    }
}

void execute_lepc(const Instruction& in, Warp& warp) {
    write_lanes64(warp, in.d, [&](unsigned) { return in.immediate; });
}

bool bind_lepc(Binder& binder) {
    binder.out.d = binder.dest_register(16, 2);
    binder.out.immediate = Program::address_of(binder.index);
    if (binder.word.form() != 1)  // LEPC Rd, target: a byte offset from bit 24 on
        binder.out.immediate = Program::address_of(binder.index + 1) +
                               static_cast<std::uint64_t>(binder.word.signed_bits(24, 58));
    binder.out.execute = execute_lepc;
    return true;
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

/// Exclusive: lanes whose masks differ go on as paths of their own, each of which comes here again,
/// so that what follows (a vote) sees the lanes of one mask only. They meet at the next BSYNC.
template <bool kExclusive>
void execute_warpsync(const Instruction& in, Warp& warp) {
    std::uint32_t lanes = condition(in, warp);
    if (lanes == 0) return;
    const Row& masks = warp.row(in.a);
    const std::uint32_t mask = masks.lane[std::countr_zero(lanes)];
    if constexpr (kExclusive) {
        const std::uint32_t others =
            lanes & ~lane_mask([&](unsigned l) { return masks.lane[l] == mask; });
        if (others != 0) warp.parked.push_back({warp.pc - 1, others, PathStatus::kReady, 0, 0});
        warp.active &= ~others;
        lanes &= ~others;
    }
    const std::uint32_t wanted = mask & warp.live;
    if ((wanted & ~lanes) == 0 && lanes == warp.active) return;
    split_off_others(warp, lanes);
    park(warp, PathStatus::kWarpSync, 0, wanted | lanes);
    release_paths(warp);
}

bool bind_warpsync(Binder& binder) {
    constexpr Arch kHopper = 90;
    Instruction& out = binder.out;
    bind_condition(binder);
    // .EXCLUSIVE is bit 86 from sm_80 on. Bits 85-86 of sm_90: 1 .EXCLUSIVE; 2 .COLLECTIVE, which
    // ends at ENDCOLLECTIVE and whose label is the BSYNC behind that.
    const bool exclusive = binder.arch >= 80 && binder.word.bits(85, 2) != 0;
    out.execute = exclusive ? execute_warpsync<true> : execute_warpsync<false>;
    if (binder.word.form() == 1)
        out.a = binder.source_register(binder.arch >= kHopper ? 24 : 32);
    else if (binder.arch >= kHopper)
        out.a = binder.literal(kAllLanes);  // .ALL
    else
        out.a = binder.flexible(SourceWidth::k32);
    return true;
}

void execute_yield(const Instruction&, Warp& warp) {
    yield(warp);
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
    {0x143, bind_absolute},
    {0x144, bind_call_relative},
    {0x145, bind_bssy},
    {0x146, bind_yield},
    {0x147, bind_bra},
    {0x148, bind_warpsync},
    {0x149, bind_brx},
    {0x14a, bind_absolute},
    {0x14c, bind_jmx},
    {0x14d, bind_exit},
    {0x14e, bind_lepc},
    {0x150, bind_ret},
    {0x155, bind_bmov_from_barrier},
    {0x156, bind_bmov_to_barrier},
    {0x158, bind_brxu},
    {0x159, bind_jmxu},
    {0x15b, bind_exit},
    {0x15c, bind_bpt},
    {0x15d, bind_yield},
    {0x11b, bind_nothing},  // ENDCOLLECTIVE
    {0x02d, bind_nothing},  // PREEXIT, ACQBULK: overlap of dependent launches, which run in order
    {0x02e, bind_nothing},
};

}  // namespace

std::span<const BindEntry> control_flow_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
