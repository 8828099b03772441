// SPDX-License-Identifier: Apache-2.0
// Issue: the instruction is executed at once, by the same semantics as the emulator's; its results
// lie in the registers, and the control bits keep consumers from reading them too early, as they do
// on the hardware. What follows here is when the warp may go on.
#include <algorithm>
#include <bit>

#include "isa/sass/convergence.h"
#include "models/gpu/chip/gpu_trace.h"
#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/sm/sm.h"

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

}  // namespace

void Sm::count(const WarpContext& context, const StaticInstruction& in, unsigned lanes) {
    ++counters_.instructions;
    counters_.thread_instructions += lanes;
    if (is_shared_) [[unlikely]] {
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
void Sm::prefetch_operands(const WarpContext& context) const {
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

/// Global stores and atomics change memory when the window ends, and are looked at there.
void Sm::execute_probed(unsigned sub_core, const StaticInstruction& in,
                        const sass::Instruction& code, sass::Warp& warp) {
    if (toggles_ != nullptr && in.kind != InstructionKind::kMemory)
        toggles_->arithmetic(sub_core, in, warp);
    const sass::Word& word = warp.cta->launch->program->words()[warp.pc - 1];
    const bool writes = observes_changes_ && writes_memory(code, word);
    const bool is_known = writes && probe_.begin(code, word, warp);
    code.execute(code, warp);
    if (writes && (!is_known || probe_.has_changed())) ++changes_;
    if (toggles_ != nullptr && in.kind == InstructionKind::kMemory) toggles_->memory(code, warp);
}

void Sm::execute(unsigned sub_core, unsigned local, const StaticInstruction& in, Cycle now) {
    const auto slot = static_cast<std::uint16_t>(local * parameters_.sub_cores + sub_core);
    WarpContext& context = contexts_[slot];
    sass::Warp& warp = *context.warp;
    const std::uint32_t pc = warp.pc;
    const sass::Instruction& code = context.code[pc];
    const std::uint32_t mask = warp.active & (warp.predicate[code.guard] ^ code.guard_invert);
    has_issued_ = true;
    const auto active = static_cast<unsigned>(std::popcount(warp.active));

    warp.pc = pc + 1;
    warp.budget = 1;
    if (mask != 0) {
        warp.mask = mask;
        warp.has_yielded = false;
        deferred_.set_cycle(now);
        try {
            if (is_probed_) [[unlikely]]
                execute_probed(sub_core, in, code, warp);
            else
                code.execute(code, warp);
        } catch (const sass::Fault& fault) {
            throw LocatedFault{fault, warp.cta->linear_index, warp.index, pc, warp.cta->launch};
        }
    }
    if (is_watched_) [[unlikely]]
        watch_issue(slot, context, in, pc, mask, now);
    counters_.active_lanes += active;
    count(context, in, static_cast<unsigned>(std::popcount(mask)));

    Cycle ready = now + in.stall;
    if (mask != 0) {
        switch (in.kind) {
            case InstructionKind::kFixed:
                break;
            case InstructionKind::kCopyArrive: {
                // All lanes name one mbarrier.
                const auto lane = static_cast<unsigned>(std::countr_zero(mask));
                const auto offset = static_cast<std::uint32_t>(warp.access.address[lane]);
                close_copy_group(slot, context, copy_barriers_.begin(context.cta_slot, offset),
                                 now);
                [[fallthrough]];
            }
            case InstructionKind::kVariable:
                if (in.read_barrier < kCounters) {
                    hold(context, in.read_barrier, false);
                    release_later(slot, in.read_barrier,
                                  now + parameters_.memory_issue_latency_uniform);
                }
                if (in.write_barrier < kCounters) {
                    hold(context, in.write_barrier, false);
                    release_later(slot, in.write_barrier, now + in.latency);
                }
                break;
            case InstructionKind::kMemory:
                enqueue_memory(context, slot, in, sub_core, pc, now);
                break;
            case InstructionKind::kBranch:
                ++counters_.branches;
                break;
            case InstructionKind::kMembar:
                context.not_before = std::max(ready, now + in.latency);
                ready = context.not_before;
                context.waits_for_stores = in.limit != 0 && context.stores_in_flight != 0;
                break;
            case InstructionKind::kCopyGroup:
                hold(context, in.counter, true);
                context.group_counter = in.counter;
                close_copy_group(slot, context, CopyBarriers::kNone, now);
                break;
            case InstructionKind::kBulkGroup:
                hold(context, in.counter, true);
                copies_.commit_group(slot, in.counter);
                end_bulk_groups(slot, now + in.latency);
                break;
            case InstructionKind::kSleep:
                ready = std::max(ready, now + sleep_cycles(context, pc));
                break;
            case InstructionKind::kTrigger:
                trigger_dependents(ctas_[context.cta_slot], now);
                break;
            case InstructionKind::kInvalidate:
                memory_->invalidate_l1();
                break;
            case InstructionKind::kWarpgroupProduct:
                issue_product(context, slot, in, now);
                break;
            case InstructionKind::kBarrier:
            case InstructionKind::kDependencyBarrier:
            case InstructionKind::kWarpgroupWait:
            case InstructionKind::kExit:
                break;
        }
    }

    if (cluster_ != nullptr) post_remote(now);
    if (in.changes_mbarrier && mask != 0) check_mbarriers(context.cta_slot, now + in.latency);
    if (warp.active == 0) return path_ended(context, slot, in, ready, now);
    if (warp.pc != pc + 1) {  // taken, or the paths took turns
        ready += parameters_.branch_redirect;
        context.line = WarpContext::kNoLine;
        if (!warp.parked.empty()) ++counters_.divergent_branches;
    } else if (in.kind == InstructionKind::kBarrier) {
        wake_waiting(ctas_[context.cta_slot], now + parameters_.barrier_latency);
    }
    // Paths take turns at branches only: between them one may keep values in the uniform registers,
    // which all of them share.
    if (!warp.parked.empty() && ++context.path_instructions >= parameters_.path_slice &&
        in.kind == InstructionKind::kBranch) [[unlikely]] {
        context.path_instructions = 0;
        sass::rotate(warp);
        context.line = WarpContext::kNoLine;
    }
    prefetch_operands(context);
    enter(context,
          in.kind == InstructionKind::kMembar   ? WarpState::kMembar
          : in.kind == InstructionKind::kSleep  ? WarpState::kSleeping
          : in.kind == InstructionKind::kBranch ? WarpState::kBranchResolving
                                                : WarpState::kWait,
          now + 1);
    if (!context.waits_for_stores) wake_slot(slot, ready);
}

void Sm::path_ended(WarpContext& context, std::uint16_t slot, const StaticInstruction& in,
                    Cycle ready, Cycle now) {
    sass::Warp& warp = *context.warp;
    context.line = WarpContext::kNoLine;
    context.path_instructions = 0;
    const bool may_release =
        in.kind == InstructionKind::kBarrier || in.kind == InstructionKind::kExit;
    if (warp.live == 0) {
        context.is_done = true;
        enter(context, WarpState::kDrain, now + 1);
    } else if (sass::resume(warp)) {
        if (in.kind == InstructionKind::kBarrier)
            ready = std::max(ready, now + parameters_.barrier_latency);
        enter(context,
              in.kind == InstructionKind::kBarrier ? WarpState::kBarrier
                                                   : WarpState::kBranchResolving,
              now + 1);
        wake_slot(slot, ready);
    } else {
        context.waits_for_path = true;
        enter(context, WarpState::kBarrier, now + 1);
    }
    if (may_release) wake_waiting(ctas_[context.cta_slot], now + parameters_.barrier_latency);
    if (context.is_done) retire_if_done(context, now);
}

void Sm::wake_waiting(const CtaSlot& cta, Cycle at) {
    for (std::uint32_t w = 0; w < cta.grid->run->warps_per_cta; ++w) {
        const auto slot = static_cast<std::uint16_t>(cta.first_warp + w);
        WarpContext& context = contexts_[slot];
        if (!context.waits_for_path || !sass::resume(*context.warp)) continue;
        context.waits_for_path = false;
        wake_slot(slot, at);
    }
}

void Sm::retire_if_done(WarpContext& context, Cycle now) {
    if (context.in_flight != 0) return;
    enter(context, WarpState::kDrain, now + 1);
    const auto slot = static_cast<std::uint32_t>(&context - contexts_.data());
    if (trace_ != nullptr) trace_->warp_ends(slot, now + 1);
    Presence& sub_core = presence_[slot % parameters_.sub_cores];
    if (--sub_core.warps == 0) counters_.sub_core_cycles_active += now + 1 - sub_core.since;
    ++ended_warps_;
    CtaSlot& cta = ctas_[context.cta_slot];
    context.warp = nullptr;
    context.is_done = false;
    if (--cta.warps_left != 0) return;
    if (trace_ != nullptr)
        trace_->cta_ends(static_cast<std::uint32_t>(&cta - ctas_.data()), now + 1);
    trigger_dependents(cta, now + 1);
    cta.is_used = false;
    reserve_warps(cta.first_warp, cta.grid->run->warps_per_cta, false);
    --cta.grid->ctas;
    last_end_ = now + 1;
    ended_.push_back({now + 1, cta.grid->run});
    if (--resident_ == 0) counters_.cycles_active += now + 1 - active_since_;
}

void Sm::enqueue_memory(WarpContext& context, std::uint16_t slot, const StaticInstruction& in,
                        unsigned sub_core, std::uint32_t pc, Cycle now) {
    const sass::Warp& warp = *context.warp;
    const MemoryInstructionInfo& info = context.grid->run->table->memory(in, warp.access.space);
    using Op = MemoryOperation;
    const bool is_uniform = info.is_uniform_address || is_shared(info.operation);
    MemoryInstruction& entry =
        queues_[sub_core].push(now + (is_uniform ? parameters_.memory_issue_latency_uniform
                                                 : parameters_.memory_issue_latency));
    entry.info = &info;
    entry.code_index = pc;
    entry.warp = slot;
    entry.sub_core = static_cast<std::uint8_t>(sub_core);
    entry.write_barrier = in.write_barrier;
    entry.read_barrier = in.read_barrier;
    entry.trace = traced_;
    if (trace_ != nullptr) trace_->queued(sub_core, queues_[sub_core].size(), now);
    entry.copy_group = context.open_group;
    entry.copy = nullptr;
    if (info.operation == Op::kBulkCopy) {
        entry.copy_group = copies_.take_started(slot);
        entry.copy = &copies_[entry.copy_group];
    }
    entry.access = warp.access;
    entry.constants = MemoryInstructionHeader::kNoConstants;
    if (info.operation == Op::kLoadConstant)
        request_constants(in, info, context, entry, now + parameters_.memory_issue_latency_uniform);
    if (warp.access.space == sass::Space::kCluster) [[unlikely]]
        note_remote(in, context, entry);
    else
        entry.is_remote = entry.is_remote_store = false;
    if (info.operation == Op::kShuffle) entry.access.lanes = warp.mask;
    const bool is_long =
        (info.operation != Op::kLoadShared || entry.is_remote) && in.is_long_scoreboard;
    if (in.write_barrier < kCounters) hold(context, in.write_barrier, is_long);
    if (in.read_barrier < kCounters) hold(context, in.read_barrier, is_long);
    ++context.in_flight;
    if (changes_global(info.operation) || entry.is_remote_store) ++context.stores_in_flight;
    switch (info.operation) {
        case Op::kCopyAsync:
            ++context.group_pending[context.open_group % WarpContext::kCopyGroups];
            ++counters_.global_load;
            break;
        case Op::kStoreGlobal:
            ++counters_.global_store;
            break;
        case Op::kReductionGlobal:
        case Op::kAtomicGlobal:
            ++counters_.atomics;
            break;
        case Op::kLoadGlobal:
            ++counters_.global_load;
            break;
        case Op::kLoadShared:
        case Op::kLoadMatrix:
            ++counters_.shared_load;
            break;
        case Op::kStoreShared:
        case Op::kStoreMatrix:
        case Op::kAtomicShared:
            ++counters_.shared_store;
            break;
        case Op::kLoadLocal:
            ++counters_.local_load;
            break;
        case Op::kStoreLocal:
            ++counters_.local_store;
            break;
        default:
            break;
    }
    update_memory_next(now + 1);
}

/// The constants of an LDC are looked up when its addresses are known; what misses is announced to
/// the memory unit, which the LDC comes to later.
void Sm::request_constants(const StaticInstruction& in, const MemoryInstructionInfo& info,
                           const WarpContext& context, MemoryInstruction& entry, Cycle at) {
    const sass::Warp& warp = *context.warp;
    const auto look_up = [&](std::uint32_t line) {
        line += context.constant_offset;
        if (indexed_constants_.request(at, line)) return;
        if (entry.constants == MemoryInstructionHeader::kNoConstants)
            entry.constants = memory_->await_constants();
        memory_->await_constants(entry.constants);
        awaited_constants_.emplace_back(line, entry.constants);
    };
    if (info.is_uniform_address) {  // execution notes no access where the offset is known
        entry.access.space = sass::Space::kConstant;
        entry.access.lanes = warp.mask;
        entry.access.width = info.width;
        return look_up(in.constant_line);
    }
    std::uint32_t last = WarpContext::kNoLine;
    for (std::uint32_t lanes = warp.access.lanes; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t offset = warp.access.address[std::countr_zero(lanes)] & 0xffff;
        const std::uint64_t address = std::uint64_t{info.constant_bank} << 16 | offset;
        const auto line = static_cast<std::uint32_t>(address / parameters_.constant_line);
        if (line != last) look_up(line);
        last = line;
    }
}

Cycle Sm::sleep_cycles(const WarpContext& context, std::uint32_t pc) const {
    const sass::Warp& warp = *context.warp;
    // NANOSLEEP: the duration, in ns, is a register (form 1) or an immediate. PTX allows anything
    // from 0 to twice the time.
    const sass::Word& word = context.grid->run->launch->program->words()[pc];
    std::uint32_t nanoseconds = static_cast<std::uint32_t>(word.bits(32, 32));
    if (word.form() == 1) {
        const auto number = static_cast<unsigned>(word.bits(32, 8));
        nanoseconds =
            number == sass::kRegisterRZ
                ? 0
                : reinterpret_cast<const sass::Row*>(warp.bases[0])[sass::kRegisterRow + number]
                      .lane[std::countr_zero(warp.mask)];
    }
    constexpr double kLongest = 1e6;  // PTX ISA: at most 1 ms
    return static_cast<Cycle>(std::min<double>(nanoseconds, kLongest) * parameters_.clock_mhz /
                              1e3);
}

}  // namespace lockstep::gpu
