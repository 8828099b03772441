// SPDX-License-Identifier: Apache-2.0
// Warps take turns, so that they make progress at about the same pace, as on a chip, whose
// sub-cores issue from another warp whenever one waits. Programs rely on that pace without knowing:
// they read shared memory and overwrite it in the next round of a loop with no barrier in between,
// which is right on silicon because nobody is a round ahead. So, after the start and after each
// barrier, a warp lets the others come as far before it waits for a load from global memory, and
// before it writes where it has read: kTurns times, then the order is that of slices alone. Those
// that needed fewer instructions to come to their turn go on first. Slices also keep a warp that
// spins on another's flag from starving it, and the paths of a diverged warp take turns likewise.
// A CTA in which no warp can run has a barrier or a convergence that can never complete.
#include "models/gpu/execution/cta_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "isa/sass/async_engine.h"
#include "isa/sass/cluster.h"
#include "isa/sass/convergence.h"
#include "isa/sass/effects.h"
#include "isa/sass/program.h"
#include "models/gpu/check/checker.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

/// Instructions a warp executes before the next one's turn: long enough to keep its registers in
/// the host's cache, short enough for spinning warps.
constexpr std::uint32_t kSlice = 256;
/// ... where one of them polls its SM's memory: it is to see what the others do one by one, as on a
/// chip, where it comes round in some thirty cycles.
constexpr std::uint32_t kPolledSlice = 32;

/// Instructions within which a branch is looked for, where paths may take turns.
constexpr std::uint32_t kBranchSearch = 1024;

/// Turns in which all warps gave way, after which the CTA is taken to be waiting for another CTA.
constexpr unsigned kIdlePasses = 64;

/// Warp::awaited where the warp stands at an instruction for which it has let the others go on.
constexpr std::uint8_t kAtTurn = 0xff;

/// Executes the paths of warps.
class PathRunner {
  public:
    PathRunner(const sass::Launch& launch, InstructionCount& count, check::Checker* checker)
        : code_(launch.program->code().data()), count_(count), checker_(checker) {}

    /// One slice of a warp, of so many instructions; true where it ended at a turn.
    bool run_slice(sass::Warp& warp, std::uint32_t slice, bool takes_turns);
    /// Runs on until the path has branched: paths take turns there only, for in between one may
    /// keep values in the uniform registers, which all paths share. False where it ended or was
    /// parked.
    bool run_to_branch(sass::Warp& warp);
    void step(sass::Warp& warp) {
        warp.budget = 1;
        run(warp, false);
    }

  private:
    bool run(sass::Warp& warp, bool takes_turns);
    template <bool kTakesTurns, bool kIsChecked>
    bool run(sass::Warp& warp);

    const sass::Instruction* code_;
    InstructionCount& count_;
    check::Checker* checker_;
};

/// Executes the warp's current path until its budget is used up or set to 0 by a semantic, or it
/// faults. With turns it may end earlier, before an instruction for which the others go on first;
/// true there.
template <bool kTakesTurns, bool kIsChecked>
bool PathRunner::run(sass::Warp& warp) {
    constexpr std::uint8_t kBegin = sass::kReadsMemory | sass::kWaitsForMemory;
    constexpr std::uint8_t kTurn = sass::kWritesMemory | sass::kWaitsForMemory;
    const sass::Instruction* const code = code_;
    std::uint32_t executed = 0;
    std::uint64_t threads = 0;
    std::uint8_t awaited = warp.awaited == 0 ? kBegin : warp.awaited;
    bool is_at_turn = false;
    const std::uint32_t releases = warp.cta->releases;
    try {
        for (; executed < warp.budget; ++executed) {
            const sass::Instruction& in = code[warp.pc];
            if (kTakesTurns && (in.effects & awaited) != 0) [[unlikely]] {
                is_at_turn = (in.effects & awaited & kTurn) != 0;
                if (is_at_turn) break;
                awaited = kTurn;
            }
            if constexpr (kIsChecked) checker_->begin_instruction(warp);
            ++warp.pc;
            const std::uint32_t mask = warp.active & (warp.predicate[in.guard] ^ in.guard_invert);
            if (mask == 0) continue;
            threads += static_cast<unsigned>(std::popcount(mask));
            warp.mask = mask;
            if (kIsChecked && (in.effects & sass::kIsChecked) != 0) {
                const std::uint32_t pc = warp.pc - 1;
                checker_->before(in, warp, pc, mask);
                in.execute(in, warp);
                checker_->after(in, warp, pc, mask);
            } else {
                in.execute(in, warp);
            }
        }
    } catch (const sass::Fault& fault) {
        throw LocatedFault{fault, warp.cta->linear_index, warp.index, warp.pc - 1};
    }
    count_.warp += executed;
    count_.thread += threads;
    if (warp.cta->releases != releases) return false;  // at a barrier that let the warp itself go
    warp.progress += executed;
    if constexpr (kTakesTurns) warp.awaited = is_at_turn ? kAtTurn : awaited;
    return is_at_turn;
}

bool PathRunner::run(sass::Warp& warp, bool takes_turns) {
    if (checker_ != nullptr) return takes_turns ? run<true, true>(warp) : run<false, true>(warp);
    return takes_turns ? run<true, false>(warp) : run<false, false>(warp);
}

bool PathRunner::run_slice(sass::Warp& warp, std::uint32_t slice, bool takes_turns) {
    if (takes_turns && warp.turns != 0 && warp.awaited == kAtTurn) {
        warp.awaited = 0;
        step(warp);
        if (warp.budget == 0) return false;
        --warp.turns;
    }
    warp.budget = slice;
    return run(warp, takes_turns && warp.turns != 0);
}

bool PathRunner::run_to_branch(sass::Warp& warp) {
    for (std::uint32_t i = 0; i < kBranchSearch && warp.active != 0; ++i) {
        const std::uint32_t next = warp.pc + 1;
        step(warp);
        if (warp.pc != next) break;
    }
    return warp.active != 0;
}

/// The order in which the warps of a CTA take their turns. At the start they are launched one after
/// the other; those that a barrier has let go are eligible at once, and a chip's sub-cores prefer
/// the youngest (models/gpu/sm/sub_core.cpp).
class WarpOrder {
  public:
    explicit WarpOrder(const sass::Cta& cta) : size_(cta.warps.size()), releases_(cta.releases) {
        LOCKSTEP_CHECK(size_ <= kMaxWarps, "a CTA of {} warps", size_);
        std::copy(cta.warps.begin(), cta.warps.end(), warp_.begin());
        if (releases_ != 0) std::reverse(warp_.begin(), warp_.begin() + size_);
    }
    std::span<sass::Warp* const> warps() const { return {warp_.data(), size_}; }

    /// After each pass: where a barrier has let warps go since the last one, the youngest come
    /// first; where warps have come to a turn, those with the least progress do.
    void update(const sass::Cta& cta, bool has_turned) {
        if (cta.releases != releases_) {
            releases_ = cta.releases;
            std::reverse_copy(cta.warps.begin(), cta.warps.end(), warp_.begin());
        }
        if (!has_turned) return;
        for (std::size_t i = 1; i < size_; ++i)
            for (std::size_t j = i; j > 0 && warp_[j]->progress < warp_[j - 1]->progress; --j)
                std::swap(warp_[j], warp_[j - 1]);
    }

  private:
    static constexpr std::size_t kMaxWarps = 64;  ///< of a CTA
    std::array<sass::Warp*, kMaxWarps> warp_;
    std::size_t size_;
    std::uint32_t releases_;
};

}  // namespace

std::string place_of(const sass::Path& path) {
    using enum sass::PathStatus;
    switch (path.status) {
        case kCtaBarrier:
            return fmt::format("barrier {}", path.detail);
        case kConvergence:
            return fmt::format("convergence barrier B{}", path.detail);
        case kCluster:
            return "barrier.cluster";
        case kRegisters:
            return fmt::format("setmaxnreg.inc to {} registers", path.detail);
        default:
            return fmt::format("a warp synchronisation of lanes {:#010x}", path.wanted);
    }
}

namespace {

/// What a CTA has of what its threads wait for.
std::string missing(const sass::Cta& cta, const sass::Path& path) {
    if (path.status == sass::PathStatus::kRegisters)
        return fmt::format("the CTA's pool holds {} registers a thread; ", cta.free_registers);
    if (path.status == sass::PathStatus::kCluster) {
        std::string ranks;
        const sass::Cluster& cluster = *cta.member->cluster;
        for (std::uint32_t rank = 0; rank < cluster.size; ++rank)
            if (!cluster.member[rank]->has_arrived)
                ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
        return fmt::format("threads of the CTAs of rank {} have not arrived at barrier.cluster; ",
                           ranks);
    }
    return "";
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
                waiting +=
                    fmt::format("{}warp {} lanes {:#010x} at {}", waiting.empty() ? "" : "; ",
                                warp->index, path.lanes, place_of(path));
        }
    }
    sass::Fault fault{.kind = sass::FaultKind::kDeadlock, .what = "no thread can go on"};
    std::uint32_t warp = 0, pc = 0;
    if (culprit != nullptr) {
        warp = culprit->index;
        // One that waits for registers executes its instruction again.
        pc = where->status == sass::PathStatus::kRegisters ? where->pc : where->pc - 1;
        fault.lane = static_cast<unsigned>(std::countr_zero(where->lanes));
        if (where->status == sass::PathStatus::kCtaBarrier) {
            fault.kind = sass::FaultKind::kDivergentBarrier;
            fault.what = fmt::format("barrier {} is never reached by all threads ({})",
                                     where->detail, waiting);
        } else {
            fault.what = fmt::format("deadlock: no thread of the {} can go on ({}{})",
                                     cta.member != nullptr ? "cluster" : "CTA",
                                     missing(cta, *where), waiting);
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

CtaOutcome run_cta(sass::Cta& cta, std::uint64_t budget, InstructionCount& count,
                   check::Checker* checker) {
    PathRunner runner(*cta.launch, count, checker);
    const std::uint64_t end = count.warp + budget;
    const bool is_alone = cta.warps.size() == 1;
    unsigned idle_passes = 0;
    std::uint32_t slice = kSlice;
    WarpOrder order(cta);
    while (true) {
        bool has_run = false;
        bool has_worked = false;
        bool has_turned = false;
        bool has_polled = false;
        for (sass::Warp* warp : order.warps()) {
            if (warp->active == 0 && !sass::resume(*warp)) continue;
            has_run = true;
            warp->has_yielded = warp->has_polled = false;
            const bool is_at_turn = runner.run_slice(*warp, slice, !is_alone);
            has_polled |= warp->has_polled;
            if (is_at_turn) {
                has_worked = has_turned = true;
                continue;
            }
            has_worked |= !warp->has_yielded;
            if (warp->budget != 0 && !warp->parked.empty() && runner.run_to_branch(*warp))
                sass::rotate(*warp);
        }
        order.update(cta, has_turned);
        if (cta.live_warps == 0) {
            if (cta.async != nullptr) cta.async->end_cta();
            return CtaOutcome::kFinished;
        }
        if (!has_run && cta.member != nullptr) return CtaOutcome::kStuck;
        if (!has_run) report_stuck(cta);
        slice = has_polled ? kPolledSlice : kSlice;
        idle_passes = has_worked ? 0 : idle_passes + 1;
        if (count.warp >= end || idle_passes >= kIdlePasses) return CtaOutcome::kPreempted;
    }
}

void step(sass::Warp& warp, InstructionCount& count, check::Checker* checker) {
    PathRunner(*warp.cta->launch, count, checker).step(warp);
}

}  // namespace lockstep::gpu
