// SPDX-License-Identifier: Apache-2.0
// CTA-wide barriers: BAR.SYNC, BAR.ARV, BAR.RED and the result of the reduction (B2R.RESULT). Since
// Volta a barrier counts threads; exited threads count as arrived. With an explicit count, a warp
// is counted as a whole once all its live threads have arrived (PTX ISA: counts are multiples of
// 32). Whether a barrier is complete is decided in cta_barrier.cpp, since exits complete barriers
// too.
#include <fmt/format.h>

#include <bit>

#include "isa/sass/barrier_observer.h"
#include "isa/sass/binder.h"
#include "isa/sass/convergence.h"
#include "isa/sass/cta_barrier.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

enum Mode : std::uint32_t { kSync = 0, kArrive = 1, kReduce = 2, kModes = 3 };

/// Modifiers: mode in bits 0-1, reduction in bits 2-3, and whether number and count share a
/// register.
constexpr std::uint32_t kPacked = 1u << 4;

void execute_bar(const Instruction& in, Warp& warp) {
    const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
    std::uint32_t number = warp.row(in.a).lane[first];
    std::uint32_t count = warp.row(in.b).lane[first];
    if (in.modifiers & kPacked) {
        number &= 0xf;
        count = count >> 16 & 0xfff;
    }
    if (number >= warp.cta->barrier.size())
        throw Fault{.kind = FaultKind::kIllegalInstruction,
                    .what = fmt::format("barrier number {} (there are 16)", number),
                    .lane = first};
    if (count % kWarpSize != 0)
        throw Fault{.kind = FaultKind::kIllegalInstruction,
                    .what = fmt::format("barrier for {} threads, not a multiple of 32", count),
                    .lane = first};
    const bool waits = (in.modifiers & 3) != kArrive;
    if (warp.cta->observer != nullptr)
        warp.cta->observer->barrier_reached(warp, number, count, waits);
    split_off_others(warp, warp.mask);
    arrive(warp, number, count, warp.read(in.ps[0]),
           static_cast<BarrierReduction>(in.modifiers >> 2 & 3));
    if (waits) park(warp, PathStatus::kCtaBarrier, static_cast<std::uint8_t>(number));
    complete_barrier(*warp.cta, number);
}

bool bind_bar(Binder& binder) {
    const Word& word = binder.word;
    Instruction& out = binder.out;
    const auto mode = static_cast<std::uint32_t>(word.bits(77, 2));
    const auto reduction = static_cast<std::uint32_t>(word.bits(74, 2));
    if (mode == kModes || reduction == kModes) return false;  // .SCAN, reserved
    out.modifiers = mode | reduction << 2;
    out.ps[0] = binder.source_predicate(87, 90);
    // Forms: 1 = both in one register (number in bits 0-3, count in 16-27), 2 = R,I, 4 = I,R, 5 =
    // I,I.
    const unsigned form = word.form();
    if (form == 1) out.modifiers |= kPacked;
    out.a = form == 1 || form == 2 ? binder.source_register(32)
                                   : binder.literal(static_cast<std::uint32_t>(word.bits(54, 4)));
    out.b = form == 1 || form == 4 ? binder.source_register(32)
                                   : binder.literal(static_cast<std::uint32_t>(word.bits(42, 12)));
    out.execute = execute_bar;
    return true;
}

/// B2R.RESULT Rd, Pd: the reduction of the barrier that this warp passed last.
void execute_b2r_result(const Instruction& in, Warp& warp) {
    const std::uint32_t value = warp.barrier_result;
    write_lanes(warp, in.d, [&](unsigned) { return value; });
    warp.write(in.pd[0], value != 0 ? kAllLanes : 0);
}

bool bind_b2r(Binder& binder) {
    constexpr unsigned kResult = 1;
    if (binder.word.bits(78, 2) != kResult) return false;
    binder.out.d = binder.dest_register();
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.out.execute = execute_b2r_result;
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x11d, bind_bar},
    {0x11c, bind_b2r},
};

}  // namespace

std::span<const BindEntry> barrier_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
