// SPDX-License-Identifier: Apache-2.0
// Jumps to computed addresses, calls, returns. Return addresses are code addresses in a register
// pair; the CUDA ABI keeps them in R20:R21. LEPC without an offset yields its own address (ptxas
// computes return addresses from it), LEPC with one the address of that target. Functions of the
// system (printf, malloc) have addresses below the code.
#include <fmt/format.h>

#include <bit>

#include "isa/sass/semantics/control_flow.h"
#include "isa/sass/system_call.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kReturnAddressRegister = 20;

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

/// Lanes of `lanes` whose address is that of a system function.
std::uint32_t system_calls(std::uint32_t lanes, const std::uint64_t (&address)[kWarpSize]) {
    constexpr std::uint64_t kSystemCallEnd = Program::kSystemCallBase + 0x10000;
    std::uint32_t calls = 0;
    for_each_lane(lanes, [&](unsigned l) {
        const bool is_call = address[l] >= Program::kSystemCallBase && address[l] < kSystemCallEnd;
        calls |= std::uint32_t{is_call} << l;
    });
    return calls;
}

/// Sends each lane to its address. System calls are performed at once and return to R20:R21.
void jump_each(Warp& warp, std::uint32_t lanes, std::uint64_t (&address)[kWarpSize]) {
    std::uint32_t calls = system_calls(lanes, address);
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
void jump_targets(const Instruction& in, const Warp& warp, std::uint64_t (&address)[kWarpSize]) {
    const Row* a = &warp.row(in.a);
    for (unsigned l = 0; l < kWarpSize; ++l) address[l] = in.immediate + lane64(a, l);
}

void execute_jump(const Instruction& in, Warp& warp) {
    const std::uint32_t lanes = condition(in, warp);
    if (lanes == 0) return;
    std::uint64_t address[kWarpSize];
    jump_targets(in, warp, address);
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

constexpr BindEntry kEntries[] = {
    {0x143, bind_absolute}, {0x144, bind_call_relative}, {0x149, bind_brx},
    {0x14a, bind_absolute}, {0x14c, bind_jmx},           {0x14e, bind_lepc},
    {0x150, bind_ret},      {0x158, bind_brxu},          {0x159, bind_jmxu},
};

}  // namespace

std::span<const BindEntry> jump_semantics() {
    return kEntries;
}

bool may_call_system(const Instruction& in) {
    return in.execute == execute_jump;
}

bool calls_system(const Instruction& in, const Warp& warp) {
    if (!may_call_system(in)) return false;
    std::uint64_t address[kWarpSize];
    jump_targets(in, warp, address);
    return system_calls(condition(in, warp), address) != 0;
}

}  // namespace lockstep::sass
