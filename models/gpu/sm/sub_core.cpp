// SPDX-License-Identifier: Apache-2.0
// Issue obeys the control bits and nothing else: a warp is eligible when its stall count has run
// out, the dependence counters of its wait mask are zero, its instruction has been fetched, its
// constant operand is cached and its pipe's latch is free (Huerta et al., MICRO'25, section 5.1).
// Which of those that are goes is the policy's choice (warp_scheduler).
#include "models/gpu/sm/sub_core.h"

#include <bit>

#include "isa/sass/convergence.h"
#include "models/gpu/sm/held_warps.h"
#include "models/gpu/sm/issue.h"
#include "models/gpu/sm/memory_arbiter.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

namespace {
constexpr auto kLsu = static_cast<unsigned>(Pipe::kLsu);
/// What waits for it is throttled by MIO to Nsight Compute (its guide: MIO's pipelines include
/// special math instructions).
constexpr auto kXu = static_cast<unsigned>(Pipe::kXu);
}  // namespace

SubCore::SubCore(unsigned index, const SmParameters& parameters, const SubCoreSurroundings& sm)
    : sm_(sm),
      warps_(sm.warps),
      index_(index),
      parameters_(parameters),
      scheduler_(warp_scheduler(parameters.scheduler)),
      instructions_(parameters, sm.instructions),
      constants_(parameters, sm.fetch),
      registers_(parameters) {}

void SubCore::begin_kernel(Cycle now, std::uint64_t constants) {
    accounted_ = now;
    next_ = kNever;
    pipe_late_.fill(0);
    instructions_.clear();
    constants_.begin_kernel(constants);
}

void SubCore::instructions_arrived(std::uint32_t line, Cycle now) {
    const Cycle ready = instructions_.arrived(now, line);
    if (ready == kNever) return;
    for (unsigned local = 0; local * parameters_.sub_cores + index_ < parameters_.max_warps;
         ++local) {
        WarpContext& context = warps_.of(index_, local);
        if (!context.waits_for_line || context.line != line) continue;
        context.waits_for_line = false;
        wake(local, ready);
    }
}

void SubCore::constants_arrived(std::uint32_t line, Cycle now) {
    constants_.arrived(now, line);
    for (unsigned local = 0; local * parameters_.sub_cores + index_ < parameters_.max_warps;
         ++local) {
        WarpContext& context = warps_.of(index_, local);
        if (!context.waits_for_constant || context.constant_line != line) continue;
        context.waits_for_constant = false;
        wake(local, now);
    }
}

void SubCore::wake(unsigned local, Cycle at) {
    if (at - warps_.now() >= kWheel) return warps_.wake_later(context(local), at);
    ready_[at % kWheel] |= 1u << local;
    occupied_ |= 1ull << at % kWheel;
    next_ = std::min(next_, at);
}

void SubCore::prefetch_due() const {
    std::uint32_t due = 0;
    for (std::uint64_t slots = occupied_; slots != 0; slots &= slots - 1)
        due |= ready_[static_cast<unsigned>(std::countr_zero(slots))];
    for (std::uint32_t pipes = candidate_pipes_; pipes != 0; pipes &= pipes - 1)
        due |= candidates_[static_cast<unsigned>(std::countr_zero(pipes))];
    for (std::uint32_t warps = due; warps != 0; warps &= warps - 1)
        context(static_cast<unsigned>(std::countr_zero(warps))).prefetch();
    for (std::uint32_t warps = due; warps != 0; warps &= warps - 1)
        context(static_cast<unsigned>(std::countr_zero(warps))).prefetch_warp();
}

void SubCore::note_memory_slot(Cycle now) {
    if (candidates_[kLsu] != 0) next_ = std::min(next_, now);
}

/// Of the warps that want the memory unit, those whose instruction has a place before it.
std::uint32_t SubCore::have_room() const {
    const std::uint32_t warps = candidates_[kLsu];
    std::uint32_t able = 0;
    if (sm_.memory.has_room(index_, true)) able |= warps & long_candidates_;
    if (sm_.memory.has_room(index_, false)) able |= warps & ~long_candidates_;
    return able;
}

Cycle SubCore::pipe_free(unsigned pipe) const {
    if (pipe == kLsu) return have_room() != 0 ? 0 : kNever;
    return pipe_free_[pipe];
}

std::uint32_t SubCore::eligible(Cycle now) const {
    std::uint32_t warps = 0;
    for (std::uint32_t pipes = candidate_pipes_; pipes != 0; pipes &= pipes - 1) {
        const auto pipe = static_cast<unsigned>(std::countr_zero(pipes));
        if (pipe == kLsu)
            warps |= have_room();
        else if (pipe_free_[pipe] <= now)
            warps |= candidates_[pipe];
    }
    return warps;
}

unsigned SubCore::choose(std::uint32_t eligible) const {
    if (std::has_single_bit(eligible)) return static_cast<unsigned>(std::countr_zero(eligible));
    return scheduler_.choose({.eligible = eligible,
                              .last = last_,
                              .group = parameters_.scheduler_group,
                              .first = &context(0),
                              .stride = parameters_.sub_cores});
}

void SubCore::tick(Cycle now) {
    // Cycles since the last tick, in which nothing issued: a place in the queue has only just
    // become free, unless the pipeline's first stages were held.
    if (candidate_pipes_ != 0 && now > accounted_ + 1) {
        const Cycle then = accounted_ + 1;
        const std::uint32_t late = issue_free_ > then ? 0 : candidates_[kLsu];
        charge(eligible(then) & ~late, WarpState::kDispatchStall, now - then);
    }
    const unsigned slot = now % kWheel;
    std::uint32_t due = ready_[slot];
    ready_[slot] = 0;
    occupied_ &= ~(1ull << slot);
    for (; due != 0; due &= due - 1) look_at(static_cast<unsigned>(std::countr_zero(due)), now);

    std::uint32_t able = 0;
    bool has_issued = false;
    if (candidate_pipes_ != 0) {
        able = eligible(now);
        while (able != 0 && !has_issued && now >= issue_free_) {
            const unsigned chosen = choose(able);
            able &= ~(1u << chosen);
            has_issued = issue(chosen, now);
        }
    }
    accounted_ = now;
    if (candidate_pipes_ != 0)
        charge(able, has_issued ? WarpState::kNotSelected : WarpState::kDispatchStall, 1);
    next_ = next_cycle(now);
}

void SubCore::charge(std::uint32_t able, WarpState rest, Cycle cycles) {
    const auto add = [&](std::uint32_t warps, WarpState state) {
        sm_.counters.warp_cycles[static_cast<unsigned>(state)] +=
            cycles * static_cast<unsigned>(std::popcount(warps));
        if (sm_.watch.profile() == nullptr) [[likely]]
            return;
        for (; warps != 0; warps &= warps - 1)
            sm_.watch.profile()->held(
                context(static_cast<unsigned>(std::countr_zero(warps))).warp->pc, state, cycles);
    };
    for (std::uint32_t pipes = candidate_pipes_; pipes != 0; pipes &= pipes - 1) {
        const auto pipe = static_cast<unsigned>(std::countr_zero(pipes));
        const std::uint32_t warps = candidates_[pipe] & ~able;
        if (pipe != kLsu) {
            add(warps, pipe == kXu ? WarpState::kMioThrottle : WarpState::kMathPipeThrottle);
        } else {
            add(warps & long_candidates_, WarpState::kLgThrottle);
            add(warps & ~long_candidates_, WarpState::kMioThrottle);
        }
    }
    add(able, rest);
}

Cycle SubCore::next_cycle(Cycle now) const {
    Cycle next = kNever;
    if (occupied_ != 0) {
        const std::uint64_t from_next = std::rotr(occupied_, static_cast<int>((now + 1) % kWheel));
        next = now + 1 + static_cast<unsigned>(std::countr_zero(from_next));
    }
    for (std::uint32_t pipes = candidate_pipes_; pipes != 0; pipes &= pipes - 1) {
        const auto pipe = static_cast<unsigned>(std::countr_zero(pipes));
        const Cycle free = pipe_free(pipe);
        if (free != kNever) next = std::min(next, std::max({free, issue_free_, now + 1}));
    }
    return next;
}

void SubCore::look_at(unsigned local, Cycle now) {
    WarpContext& context = warps_.of(index_, local);
    const sass::Warp& warp = *context.warp;
    const StaticInstruction& in = context.info[warp.pc];

    const std::uint32_t line =
        context.line_offset + warp.pc / (parameters_.instruction_line / sass::Word::kBytes);
    if (line != context.line) {
        context.line = line;
        bool hit;
        const Cycle ready = instructions_.fetch(now, line, hit);
        ++(hit ? sm_.counters.l0_instruction_hits : sm_.counters.l0_instruction_misses);
        if (ready > now) {
            warps_.enter(context, WarpState::kNoInstruction, now);
            context.waits_for_line = ready == kPending;
            if (ready != kPending) wake(local, ready);
            return;
        }
    }
    std::uint8_t waiting = 0;
    for (std::uint8_t mask = in.wait_mask; mask != 0; mask &= static_cast<std::uint8_t>(mask - 1)) {
        const auto counter = static_cast<unsigned>(std::countr_zero(mask));
        if (context.counter[counter] != 0) waiting |= static_cast<std::uint8_t>(1u << counter);
    }
    if (in.kind == InstructionKind::kDependencyBarrier && context.counter[in.counter] > in.limit)
        waiting |= static_cast<std::uint8_t>(1u << in.counter);
    // A counter at its maximum cannot take one more instruction: the warp waits for a release.
    for (const std::uint8_t counter : {in.write_barrier, in.read_barrier})
        if (context.counter[counter] == kCounterMax) [[unlikely]]
            waiting |= static_cast<std::uint8_t>(1u << counter);
    // Nor can a warp with as many groups of copies open as are kept apart close one more.
    if (in.closes_copies && context.copy_groups_full()) [[unlikely]]
        waiting |= static_cast<std::uint8_t>(context.long_mask | 1u);
    if (waiting != 0) {
        context.waits_for_counter = true;
        return warps_.enter(context,
                            (waiting & context.long_mask) != 0 ? WarpState::kLongScoreboard
                                                               : WarpState::kShortScoreboard,
                            now);
    }
    if (in.kind == InstructionKind::kWarpgroupWait && context.product_groups > in.limit) {
        context.waits_for_products = true;
        return warps_.enter(context, WarpState::kGmma, now);
    }
    if (in.reads_constant) {
        // A line that it has waited for serves the warp even if others have evicted it since.
        const std::uint32_t constant_line = in.constant_line + context.constant_offset;
        const bool has_come = context.constant_line == constant_line;
        context.constant_line = WarpContext::kNoLine;
        if (!has_come && !constants_.request(now, constant_line)) {
            context.constant_line = constant_line;
            context.waits_for_constant = true;
            return warps_.enter(context, WarpState::kImcMiss, now);
        }
    }
    warps_.enter(context, WarpState::kSelected,
                 now);  // a candidate; its cycles are told apart later
    const auto pipe = static_cast<unsigned>(in.entry());
    candidates_[pipe] |= 1u << local;
    candidate_pipes_ |= 1u << pipe;
    if (in.is_long_scoreboard) long_candidates_ |= 1u << local;
}

/// What a pipe loses of its rate comes a cycle at a time.
Cycle SubCore::hold(const StaticInstruction& in) {
    std::uint32_t& late = pipe_late_[static_cast<unsigned>(in.pipe)];
    late += in.late;
    const Cycle whole = late / StaticInstruction::kLateParts;
    late %= StaticInstruction::kLateParts;
    return in.interval + whole;
}

bool SubCore::issue(unsigned local, Cycle now) {
    WarpContext& context = warps_.of(index_, local);
    const StaticInstruction& in = context.info[context.warp->pc];
    const auto pipe = static_cast<unsigned>(in.pipe), entry = static_cast<unsigned>(in.entry());
    candidates_[entry] &= ~(1u << local);
    if (candidates_[entry] == 0) candidate_pipes_ &= ~(1u << entry);
    long_candidates_ &= ~(1u << local);
    if (sm_.held.holds(context, in)) return false;
    last_ = local;

    Cycle begin = now;
    if (pipe == static_cast<unsigned>(Pipe::kFp64) && parameters_.fp64_is_shared) {
        begin = sm_.fp64.take(now, in.interval);
        pipe_free_[pipe] = begin + 1;
    } else {
        pipe_free_[pipe] = now + hold(in);
    }
    SmCounters& counters = sm_.counters;
    counters.pipe_busy[pipe] += in.interval;
    ++counters.pipe_instructions[pipe];
    ++counters.issue_active;
    issue_free_ = now + 1;
    if (in.operands != 0 && in.kind != InstructionKind::kMemory) {
        const auto slot = static_cast<std::uint16_t>(local);
        const Cycle bubbles = registers_.allocate(now + RegisterFile::kFromIssue, in, slot);
        counters.register_bank_conflicts += bubbles;
        issue_free_ += bubbles;
    }
    // The warp is at least stalled for its stall count; what else keeps it is the SM's to say.
    sm_.issue.execute(context, in, now, begin);
    if (in.passes_by_value) [[unlikely]]
        for (unsigned pass = 0; pass < sm_.issue.further_passes(); ++pass) {
            pipe_free_[pipe] += hold(in);
            counters.pipe_busy[pipe] += in.interval;
        }
    return true;
}

}  // namespace lockstep::gpu
