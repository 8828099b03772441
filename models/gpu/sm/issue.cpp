// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/issue.h"

#include <algorithm>
#include <bit>

#include "isa/sass/convergence.h"
#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/sm/sleep.h"

namespace lockstep::gpu {

using engine::Cycle;

namespace {

/// Where the work of each kind of arithmetic is counted, and whether by lane or by instruction.
struct ArithmeticCounter {
    std::uint64_t SmCounters::*counter;
    bool by_lane;
};
constexpr ArithmeticCounter kArithmeticCounters[] = {
    {nullptr, false},           {&SmCounters::fadd, true},  {&SmCounters::fmul, true},
    {&SmCounters::ffma, true},  {&SmCounters::dadd, true},  {&SmCounters::dmul, true},
    {&SmCounters::dfma, true},  {&SmCounters::hadd, true},  {&SmCounters::hmul, true},
    {&SmCounters::hfma, true},  {&SmCounters::hmma, false}, {&SmCounters::imma, false},
    {&SmCounters::dmma, false}, {&SmCounters::bmma, false}, {&SmCounters::gmma, false},
};
static_assert(std::size(kArithmeticCounters) == static_cast<unsigned>(Arithmetic::kCount));

/// Distinct values but one that MATCH.ANY has found, by the masks of the lanes that have them.
unsigned further_values(const sass::Warp& warp, const sass::Instruction& code) {
    const sass::Row& masks = warp.row(code.d);
    unsigned values = 0;
    for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        values += static_cast<unsigned>(std::countr_zero(masks.lane[lane]) == lane);
    }
    return values - 1;
}

WarpState state_after(InstructionKind kind) {
    switch (kind) {
        case InstructionKind::kMembar:
            return WarpState::kMembar;
        case InstructionKind::kSleep:
            return WarpState::kSleeping;
        default:
            return WarpState::kWait;
    }
}

}  // namespace

void Issue::count(const WarpContext& context, const StaticInstruction& in, unsigned lanes) {
    ++counters_.instructions;
    counters_.thread_instructions += lanes;
    counters_.lanes[static_cast<unsigned>(in.work)] += lanes;
    if (to_.grids.is_shared()) [[unlikely]] {
        ++context.grid->instructions;
        context.grid->thread_instructions += lanes;
    }
    if (in.arithmetic == Arithmetic::kNone) return;
    const auto& [counter, by_lane] = kArithmeticCounters[static_cast<unsigned>(in.arithmetic)];
    counters_.*counter += by_lane ? lanes : 1;
    counters_.tensor_operations += in.tensor_macs;
}

/// The registers of all warps of a chip are far more than the host's caches hold: those of the
/// warp's next instruction are fetched while others issue.
void Issue::prefetch_operands(const WarpContext& context) const {
    const sass::Warp& warp = *context.warp;
    const auto fetch = [](const std::byte* row) {
        __builtin_prefetch(row, 1);
        __builtin_prefetch(row + sizeof(sass::Row) / 2, 1);
    };
    const StaticInstruction& in = context.info[warp.pc];
    for (unsigned i = 0; i < in.operands; ++i) {
        const OperandRead& read = in.operand[i];
        const std::byte* row =
            warp.bases[0] + (sass::kRegisterRow + std::size_t{read.first}) * sizeof(sass::Row);
        for (unsigned k = 0; k < read.count; ++k, row += sizeof(sass::Row)) fetch(row);
    }
    fetch(warp.bases[0] + context.code[warp.pc].d.offset());
}

/// Computes the results.
void Issue::run(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                std::uint32_t mask, Cycle now) {
    sass::Warp& warp = *context.warp;
    const sass::Instruction& code = context.code[pc];
    warp.mask = mask;
    warp.has_yielded = false;
    to_.deferred.set_cycle(now);
    try {
        if (watch_.is_probed()) [[unlikely]]
            watch_.execute(to_.warps.sub_core_of(context), in, code, warp);
        else
            code.execute(code, warp);
    } catch (const sass::Fault& fault) {
        throw LocatedFault{fault, warp.cta->linear_index, warp.index, pc, warp.cta->launch};
    }
}

void Issue::start_variable(WarpContext& context, const StaticInstruction& in, Cycle now) {
    Cycle latency = in.latency;
    if (in.passes_by_value) [[unlikely]]
        latency += static_cast<Cycle>(further_passes_ * parameters_.match_value_latency + 0.5);
    if (in.read_barrier < kCounters) {
        to_.warps.hold(context, in.read_barrier, false);
        to_.warps.release_later(context, in.read_barrier,
                                now + parameters_.memory_issue_latency_uniform);
    }
    if (in.write_barrier < kCounters) {
        to_.warps.hold(context, in.write_barrier, false);
        to_.warps.release_later(context, in.write_barrier, now + latency);
    }
}

/// What the instruction starts in other units; returns when the warp may issue its next one.
Cycle Issue::start(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                   std::uint32_t mask, Cycle ready, Cycle now) {
    switch (in.kind) {
        case InstructionKind::kCopyArrive: {
            // All lanes name one mbarrier.
            const auto lane = static_cast<unsigned>(std::countr_zero(mask));
            const std::uint64_t address = context.warp->access.address[lane];
            to_.copies.close_for_mbarrier(context, static_cast<std::uint32_t>(address), now);
            start_variable(context, in, now);
            break;
        }
        case InstructionKind::kVariable:
            start_variable(context, in, now);
            break;
        case InstructionKind::kMemory:
            to_.memory.issue(context, in, pc, now);
            break;
        case InstructionKind::kBranch:
            ++counters_.branches;
            return ready + in.latency;
        case InstructionKind::kMembar:
            // Fences of an SM beyond its CTAs are performed one after the other.
            if (in.limit != 0) {
                fence_free_ = std::max(fence_free_, now);
                context.not_before = std::max(ready, fence_free_ + in.latency);
                fence_free_ += parameters_.membar_interval;
            } else {
                context.not_before = std::max(ready, now + in.latency);
            }
            context.waits_for_stores = in.limit != 0 && context.stores_in_flight != 0;
            return context.not_before;
        case InstructionKind::kCopyGroup:
            to_.warps.hold(context, in.counter, true);
            to_.copies.close(context, in.counter, now);
            break;
        case InstructionKind::kBulkGroup:
            to_.warps.hold(context, in.counter, true);
            to_.bulk_copies.commit_group(context, in.counter, now + in.latency);
            break;
        case InstructionKind::kSleep:
            // One that waits for an mbarrier has done so (HeldWarps).
            if (in.waits_for_phase) return ready;
            return std::max(ready, now + sleep_cycles(parameters_, context, pc));
        case InstructionKind::kTrigger:
            to_.ctas.trigger_dependents(context.cta_slot, now);
            break;
        case InstructionKind::kInvalidate:
            memory_->invalidate_l1();
            break;
        case InstructionKind::kWarpgroupProduct:
            to_.products.issue(context, in, now);
            break;
        case InstructionKind::kFixed:
        case InstructionKind::kBarrier:
        case InstructionKind::kDependencyBarrier:
        case InstructionKind::kWarpgroupWait:
        case InstructionKind::kExit:
            break;
    }
    return ready;
}

void Issue::execute(WarpContext& context, const StaticInstruction& in, Cycle now, Cycle begin) {
    sass::Warp& warp = *context.warp;
    const std::uint32_t pc = warp.pc;
    const sass::Instruction& code = context.code[pc];
    const std::uint32_t mask = warp.active & (warp.predicate[code.guard] ^ code.guard_invert);
    has_issued_ = true;
    const auto active = static_cast<unsigned>(std::popcount(warp.active));

    warp.pc = pc + 1;
    warp.budget = 1;
    if (mask != 0) run(context, in, pc, mask, now);
    if (in.passes_by_value) [[unlikely]]
        further_passes_ = mask != 0 ? further_values(warp, code) : 0;
    if (watch_.is_watched()) [[unlikely]]
        watch_.issued(context, in, pc, mask, now);
    counters_.active_lanes += active;
    count(context, in, static_cast<unsigned>(std::popcount(mask)));

    Cycle ready = now + in.stall;
    if (in.changes_mbarrier && mask != 0) {
        begin = to_.mbarriers.take_change(now);
        ready = std::max(ready, begin + 1);
    }
    if (mask != 0)
        ready = start(context, in, pc, mask, ready, begin);
    else if (in.kind == InstructionKind::kMemory)
        to_.memory.issue_for_none(context, in, pc, begin);
    if (cluster_ != nullptr) send_to_cluster(now);
    if (in.changes_mbarrier && mask != 0) to_.mbarriers.check(*warp.cta, begin + in.latency);
    if (warp.active == 0) return end_path(context, in, ready, now);
    if (warp.pc != pc + 1) {  // taken, or the paths took turns
        ready += parameters_.branch_redirect;
        context.line = WarpContext::kNoLine;
        if (!warp.parked.empty()) ++counters_.divergent_branches;
    } else if (in.kind == InstructionKind::kBarrier) {
        to_.ctas.wake_waiting(context.cta_slot, now + parameters_.barrier_latency);
    }
    // Paths take turns at branches only: between them one may keep values in the uniform registers,
    // which all of them share.
    if (!warp.parked.empty() && ++context.path_instructions >= parameters_.path_slice &&
        in.kind == InstructionKind::kBranch) [[unlikely]] {
        context.path_instructions = 0;
        ++context.path_turns;
        sass::rotate(warp);
        context.line = WarpContext::kNoLine;
    }
    prefetch_operands(context);
    to_.warps.enter(context, state_after(in.kind), now + 1);
    // A branch's stall count is a wait as any other's; what it costs beyond that is its own.
    if (in.kind == InstructionKind::kBranch && ready > now + in.stall)
        to_.warps.enter(context, WarpState::kBranchResolving, now + in.stall);
    if (!context.waits_for_stores) to_.warps.wake(context, ready);
}

/// What no memory instruction takes with it: arrivals at mbarriers and at barrier.cluster.
void Issue::send_to_cluster(Cycle now) {
    if (cluster_->has_arrived()) cluster_->send_arrivals(now);
    if (!cluster_->has_issued()) return;
    cluster_->request(now + parameters_.memory_issue_latency_uniform, cluster_->take_issued(), {},
                      false);
}

/// No thread is active: the warp has ended, another of its paths goes on, or all wait at barriers.
void Issue::end_path(WarpContext& context, const StaticInstruction& in, Cycle ready, Cycle now) {
    sass::Warp& warp = *context.warp;
    context.line = WarpContext::kNoLine;
    context.path_instructions = 0;
    const bool is_barrier = in.kind == InstructionKind::kBarrier;
    const Cycle released = now + parameters_.barrier_latency;
    if (warp.live == 0) {
        context.is_done = true;
        to_.warps.enter(context, WarpState::kDrain, now + 1);
    } else if (sass::resume(warp)) {
        if (is_barrier) ready = std::max(ready, released);
        to_.warps.enter(context, is_barrier ? WarpState::kBarrier : WarpState::kBranchResolving,
                        now + 1);
        to_.warps.wake(context, ready);
    } else {
        context.waits_for_path = true;
        // A barrier's stall count is a wait, too: what Nsight Compute counts as such in products on
        // an H200 is the sum of all stall counts.
        to_.warps.enter(context, is_barrier ? WarpState::kWait : WarpState::kBarrier, now + 1);
        if (is_barrier)
            to_.warps.enter(context, WarpState::kBarrier, std::min(now + in.stall, released));
    }
    if (is_barrier || in.kind == InstructionKind::kExit)
        to_.ctas.wake_waiting(context.cta_slot, released);
    if (context.is_done) to_.ctas.retire_if_done(context, now);
}

}  // namespace lockstep::gpu
