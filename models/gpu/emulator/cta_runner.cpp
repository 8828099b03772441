// SPDX-License-Identifier: Apache-2.0
// Warps take turns of kSlice instructions, so that one that spins on another's flag cannot starve
// it, and the paths of a diverged warp take turns likewise. A CTA in which no warp can run has a
// barrier or a convergence that can never complete.
#include "models/gpu/emulator/cta_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/sass/convergence.h"
#include "isa/sass/program.h"

namespace lockstep::gpu {

namespace {

/// Instructions a warp executes before the next one's turn: long enough to keep its registers in
/// the host's cache, short enough for spinning warps.
constexpr std::uint32_t kSlice = 1024;

/// Turns of all warps that ended in YIELD or NANOSLEEP after which the CTA is taken to be waiting
/// for another CTA.
constexpr unsigned kIdlePasses = 64;

/// Runs the warp's current path until its budget is used up, set to 0 by a semantic, or it faults.
void run_slice(sass::Warp& warp, const sass::Instruction* code, InstructionCount& count) {
    std::uint32_t executed = 0;
    std::uint64_t threads = 0;
    try {
        for (; executed < warp.budget; ++executed) {
            const sass::Instruction& in = code[warp.pc++];
            const std::uint32_t mask = warp.active & (warp.predicate[in.guard] ^ in.guard_invert);
            if (mask == 0) continue;
            threads += static_cast<unsigned>(std::popcount(mask));
            warp.mask = mask;
            in.execute(in, warp);
        }
    } catch (const sass::Fault& fault) {
        throw LocatedFault{fault, warp.cta->linear_index, warp.index, warp.pc - 1};
    }
    count.warp += executed;
    count.thread += threads;
}

/// Runs on until the path has branched: paths take turns there only, for in between one may keep
/// values in the uniform registers, which all paths share. False where it ended or was parked.
bool run_to_branch(sass::Warp& warp, const sass::Instruction* code, InstructionCount& count) {
    for (std::uint32_t i = 0; i < kSlice && warp.active != 0; ++i) {
        const std::uint32_t next = warp.pc + 1;
        warp.budget = 1;
        run_slice(warp, code, count);
        if (warp.pc != next) break;
    }
    return warp.active != 0;
}

}  // namespace

void report_stuck(const sass::Cta& cta) {
    // Blame a path at a barrier if there is one: the others wait for its threads.
    const sass::Warp* culprit = nullptr;
    const sass::Path* where = nullptr;
    std::string waiting;
    for (const sass::Warp* warp : cta.warps) {
        for (const sass::Path& path : warp->parked) {
            const bool is_barrier = path.status == sass::PathStatus::kCtaBarrier;
            if (culprit == nullptr ||
                (is_barrier && where->status != sass::PathStatus::kCtaBarrier)) {
                culprit = warp;
                where = &path;
            }
            if (waiting.size() < 400)
                waiting += fmt::format(
                    "{}warp {} lanes {:#010x} at {}", waiting.empty() ? "" : "; ", warp->index,
                    path.lanes,
                    is_barrier ? fmt::format("barrier {}", path.detail)
                    : path.status == sass::PathStatus::kConvergence
                        ? fmt::format("convergence barrier B{}", path.detail)
                        : fmt::format("a warp synchronisation of lanes {:#010x}", path.wanted));
        }
    }
    sass::Fault fault{.kind = sass::FaultKind::kDeadlock, .what = "no thread can go on"};
    std::uint32_t warp = 0, pc = 0;
    if (culprit != nullptr) {
        warp = culprit->index;
        pc = where->pc - 1;
        fault.lane = static_cast<unsigned>(std::countr_zero(where->lanes));
        if (where->status == sass::PathStatus::kCtaBarrier) {
            fault.kind = sass::FaultKind::kDivergentBarrier;
            fault.what = fmt::format("barrier {} is never reached by all threads ({})",
                                     where->detail, waiting);
        } else {
            fault.what = fmt::format("deadlock: no thread of the CTA can go on ({})", waiting);
        }
    }
    throw LocatedFault{fault, cta.linear_index, warp, pc};
}

LocatedFault instruction_limit_fault(const sass::Cta& cta, std::uint64_t max_instructions) {
    const sass::Warp* warp = cta.warps.front();
    for (const sass::Warp* other : cta.warps)
        if (other->active != 0) warp = other;
    return LocatedFault{
        {.kind = sass::FaultKind::kInstructionLimit,
         .what =
             fmt::format("more than {} warp-instructions (--max-instructions)", max_instructions),
         .lane = warp->active == 0 ? 0u : static_cast<unsigned>(std::countr_zero(warp->active))},
        cta.linear_index,
        warp->index,
        warp->pc};
}

CtaOutcome run_cta(sass::Cta& cta, std::uint64_t budget, InstructionCount& count) {
    const sass::Instruction* code = cta.launch->program->code().data();
    const std::uint64_t end = count.warp + budget;
    unsigned idle_passes = 0;
    while (true) {
        bool has_run = false;
        bool has_worked = false;
        for (sass::Warp* warp : cta.warps) {
            if (warp->active == 0 && !sass::resume(*warp)) continue;
            has_run = true;
            warp->has_yielded = false;
            warp->budget = kSlice;
            run_slice(*warp, code, count);
            has_worked |= !warp->has_yielded;
            if (warp->budget != 0 && !warp->parked.empty() && run_to_branch(*warp, code, count))
                sass::rotate(*warp);
        }
        if (cta.live_warps == 0) return CtaOutcome::kFinished;
        if (!has_run) report_stuck(cta);
        idle_passes = has_worked ? 0 : idle_passes + 1;
        if (count.warp >= end || idle_passes >= kIdlePasses) return CtaOutcome::kPreempted;
    }
}

}  // namespace lockstep::gpu
