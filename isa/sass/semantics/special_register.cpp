// SPDX-License-Identifier: Apache-2.0
// S2R, S2UR, CS2R: reads of special registers (index in bits 72-79). VIRTCFG and VIRTID hold the
// number of warps and the warp's number in bits 8 and up, as ptxas unpacks them for %nwarpid,
// %warpid.
#include <bit>

#include "isa/sass/binder.h"
#include "isa/sass/semantics/lanes.h"
#include "sim/numerics/integer.h"

namespace lockstep::sass {

namespace {

enum SpecialRegister : unsigned {
    kLaneId = 0x00,
    kVirtualConfiguration = 0x02,
    kVirtualId = 0x03,
    kTidX = 0x21,
    kTidY = 0x22,
    kTidZ = 0x23,
    kCtaIdX = 0x25,
    kCtaIdY = 0x26,
    kCtaIdZ = 0x27,
    kNtid = 0x28,
    kSharedWindowHigh = 0x2f,
    kSharedWindowLow = 0x30,
    kSharedMemorySize = 0x32,
    kLocalWindowLow = 0x34,
    kLocalMemoryHighOffset = 0x37,  // the stack's lowest address; debug builds check it
    kEqualMask = 0x38,
    kLessMask = 0x39,
    kLessEqualMask = 0x3a,
    kGreaterMask = 0x3b,
    kGreaterEqualMask = 0x3c,
    kVirtualSmId = 0x43,
    kClockLow = 0x50,
    kClockHigh = 0x51,
    kGlobalTimerLow = 0x52,
    kGlobalTimerHigh = 0x53,
    kCgaCtaId = 0x88,
    kGpcLocalCgaId = 0x89,
    kZero = 0xff,
};

/// What a CTA is granted, in the units of allocation (CUDA Programming Guide).
std::uint32_t shared_memory_size(const Launch& launch) {
    return numerics::round_up(launch.shared_bytes, launch.arch >= 80 ? 128u : 256u);
}

/// Value of a register that is the same for all lanes.
std::uint64_t warp_value(const Warp& warp, unsigned number) {
    const Cta& cta = *warp.cta;
    Environment& environment = *cta.launch->environment;
    switch (number) {
        case kVirtualConfiguration:
            return std::uint64_t{64} << 8;
        case kVirtualId:
            return std::uint64_t{warp.index} << 8;
        case kCtaIdX:
            return cta.index.x;
        case kCtaIdY:
            return cta.index.y;
        case kCtaIdZ:
            return cta.index.z;
        case kNtid:
            return cta.launch->block.volume();
        case kSharedWindowHigh:
            return kSharedWindow >> 32;
        case kSharedMemorySize:
            return shared_memory_size(*cta.launch);
        case kVirtualSmId:
            return environment.sm_id(warp);
        case kClockLow:
            return environment.clock(warp);
        case kClockHigh:
            return environment.clock(warp) >> 32;
        case kGlobalTimerLow:
            return environment.global_timer(warp);
        case kCgaCtaId:
            return cta.cluster_rank;
        case kGlobalTimerHigh:
            return environment.global_timer(warp) >> 32;
        default:
            return 0;  // window low halves, end of the stack, SRZ
    }
}

std::uint32_t lane_value(const Warp& warp, unsigned number, unsigned lane) {
    const std::uint32_t bit = 1u << lane;
    switch (number) {
        case kLaneId:
            return lane;
        case kTidX:
            return warp.thread_index(lane).x;
        case kTidY:
            return warp.thread_index(lane).y;
        case kTidZ:
            return warp.thread_index(lane).z;
        case kEqualMask:
            return bit;
        case kLessMask:
            return bit - 1;
        case kLessEqualMask:
            return bit | (bit - 1);
        case kGreaterMask:
            return ~(bit | (bit - 1));
        default:
            return ~(bit - 1);  // kGreaterEqualMask
    }
}

bool is_per_lane(unsigned number) {
    return number == kLaneId || (number >= kTidX && number <= kTidZ) ||
           (number >= kEqualMask && number <= kGreaterEqualMask);
}

bool is_known(unsigned number) {
    switch (number) {
        case kVirtualConfiguration:
        case kVirtualId:
        case kCtaIdX:
        case kCtaIdY:
        case kCtaIdZ:
        case kNtid:
        case kSharedWindowLow:
        case kSharedWindowHigh:
        case kSharedMemorySize:
        case kLocalWindowLow:
        case kLocalMemoryHighOffset:
        case kVirtualSmId:
        case kClockLow:
        case kClockHigh:
        case kGlobalTimerLow:
        case kGlobalTimerHigh:
        case kCgaCtaId:
        case kGpcLocalCgaId:
        case kZero:
            return true;
        default:
            return is_per_lane(number);
    }
}

void execute_lane_register(const Instruction& in, Warp& warp) {
    write_lanes(warp, in.d, [&](unsigned l) { return lane_value(warp, in.modifiers, l); });
}

void execute_warp_register(const Instruction& in, Warp& warp) {
    const auto value = static_cast<std::uint32_t>(warp_value(warp, in.modifiers));
    write_lanes(warp, in.d, [&](unsigned) { return value; });
}

void execute_warp_register64(const Instruction& in, Warp& warp) {
    const std::uint64_t value = warp_value(warp, in.modifiers);
    write_lanes64(warp, in.d, [&](unsigned) { return value; });
}

/// One-dimensional blocks are common enough for a division-free TID.X.
void execute_tid_x(const Instruction& in, Warp& warp) {
    const Dim3& block = warp.cta->launch->block;
    if (block.y == 1 && block.z == 1) {
        const std::uint32_t first = warp.index * kWarpSize;
        write_lanes(warp, in.d, [&](unsigned l) { return first + l; });
    } else {
        execute_lane_register(in, warp);
    }
}

bool bind_special_register(Binder& binder, Operand destination) {
    const auto number = static_cast<unsigned>(binder.word.bits(72, 8));
    if (!is_known(number)) return false;
    binder.out.modifiers = number;
    binder.out.d = destination;
    binder.out.execute = number == kTidX       ? execute_tid_x
                         : is_per_lane(number) ? execute_lane_register
                                               : execute_warp_register;
    return true;
}

bool bind_s2r(Binder& binder) {
    return bind_special_register(binder, binder.dest_register());
}

/// S2UR of a per-lane register yields that of the first active lane.
void execute_s2ur(const Instruction& in, Warp& warp) {
    const std::uint32_t value =
        is_per_lane(in.modifiers)
            ? lane_value(warp, in.modifiers, static_cast<unsigned>(std::countr_zero(warp.active)))
            : static_cast<std::uint32_t>(warp_value(warp, in.modifiers));
    write_lanes(warp, in.d, [&](unsigned) { return value; });
}

bool bind_s2ur(Binder& binder) {
    if (!bind_special_register(binder, binder.dest_uniform())) return false;
    binder.out.guard = static_cast<std::uint8_t>(kUniformPredicate0 + binder.word.bits(12, 3));
    binder.execute_uniformly(execute_s2ur);
    return true;
}

bool bind_cs2r(Binder& binder) {
    const bool is_32_bit = !binder.word.bit(80);
    if (!bind_special_register(binder, binder.dest_register(16, is_32_bit ? 1 : 2))) return false;
    if (!is_32_bit) {
        if (is_per_lane(binder.out.modifiers)) return false;
        binder.out.execute = execute_warp_register64;
    }
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x005, bind_cs2r},
    {0x119, bind_s2r},
    {0x1c3, bind_s2ur},
};

}  // namespace

std::span<const BindEntry> special_register_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
