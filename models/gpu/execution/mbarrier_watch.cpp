// SPDX-License-Identifier: Apache-2.0
// States are compared at each vain question, by Brent's way to find a cycle: with one reference,
// which is taken anew after twice as many questions each time.
#include "models/gpu/execution/mbarrier_watch.h"

#include <algorithm>
#include <span>
#include <utility>

#include "isa/sass/convergence.h"
#include "isa/sass/effects.h"
#include "isa/sass/program.h"
#include "isa/sass/semantics/mbarrier.h"
#include "isa/sass/system_call.h"
#include "isa/sass/table/op.h"
#include "isa/sass/table/table.h"
#include "models/gpu/execution/mbarrier_report.h"
#include "models/gpu/execution/warp_state.h"

namespace lockstep::gpu {

namespace {

/// Instructions and vain questions of a warp in one look.
constexpr unsigned kSteps = 1 << 14, kQuestions = 256;

/// Clocks that are far ahead, and stand still.
class FarFuture final : public sass::Environment {
  public:
    explicit FarFuture(sass::Environment& now) : now_(now) {}
    void system_call(unsigned, sass::Warp&) override {}
    std::uint64_t clock(const sass::Warp& warp) override { return now_.clock(warp) + kAhead; }
    std::uint64_t global_timer(const sass::Warp& warp) override {
        return now_.global_timer(warp) + kAhead;
    }
    std::uint32_t sm_id(const sass::Warp& warp) override { return now_.sm_id(warp); }
    std::uint32_t sm_count() override { return now_.sm_count(); }

  private:
    static constexpr std::uint64_t kAhead = std::uint64_t{1} << 50;  // cycles, ns: days
    sass::Environment& now_;
};

void execute_next(sass::Warp& warp) {
    const sass::Instruction& in = warp.cta->launch->program->code()[warp.pc++];
    warp.mask = warp.active & (warp.predicate[in.guard] ^ in.guard_invert);
    if (warp.mask != 0) in.execute(in, warp);
}

}  // namespace

bool is_private(const sass::Instruction& in, const sass::Word& word, int arch) {
    using sass::Op;
    using sass::table::Pipe;
    switch (sass::op_of(word)) {
        case Op::kLds:
        case Op::kLdsm:
        case Op::kLdc:
        case Op::kMembar:
        case Op::kCgaerrbar:
        case Op::kFence:
        case Op::kCctl:
        case Op::kShfl:
        case Op::kWarpgroup:
            return true;
        case Op::kSyncs:
            return sass::is_phase_check(in);
        case Op::kExit:
        case Op::kUcgabarArv:
        case Op::kUsetmaxreg:
        case Op::kDepbar:
            return false;
        default:
            break;
    }
    if ((in.effects & ~(sass::kWaitsForMemory | sass::kWarpOrExit)) != 0) return false;
    if (sass::may_call_system(in)) return false;
    const sass::table::Row* const row = sass::table::find(word, arch);
    if (row == nullptr) return false;
    switch (row->pipe) {
        case Pipe::kAlu:
        case Pipe::kFma:
        case Pipe::kHalf:
        case Pipe::kDouble:
        case Pipe::kUniform:
        case Pipe::kVariable:
        case Pipe::kBranch:
        case Pipe::kDispatch:
            return true;
        default:
            return false;
    }
}

WarpFinding watch(sass::Warp& warp, const StepWarp& step, std::vector<PhaseWait>& found) {
    const sass::Program& program = *warp.cta->launch->program;
    std::uint64_t reference = 0;
    unsigned questions = 0, next_reference = 1;
    bool has_read_clock = false;
    std::vector<PhaseWait> waits;
    for (unsigned i = 0; i < kSteps; ++i) {
        const std::uint32_t pc = warp.pc, lanes = warp.active;
        const sass::Instruction& in = program.code()[pc];
        const bool executes = (lanes & (warp.predicate[in.guard] ^ in.guard_invert)) != 0;
        if (executes && !is_private(in, program.words()[pc], program.arch()))
            return WarpFinding::kUnknown;
        // A wait for products asks whether the other warps of the warpgroup have come to them.
        const bool meets = sass::op_of(program.words()[pc]) == sass::Op::kWarpgroup;
        const bool asks = executes && (meets || sass::is_phase_check(in));
        std::string what = !asks ? ""
                           : meets
                               ? "the products of its warpgroup, to which not all of its warps come"
                               : describe_phase_check(warp, pc);
        warp.has_yielded = false;
        has_read_clock |= step(warp);
        if (warp.active == 0 && !sass::resume(warp)) return WarpFinding::kUnknown;
        if (!asks || !warp.has_yielded) continue;
        waits.push_back({warp.cta, warp.index, pc, lanes, std::move(what)});
        const std::uint64_t state = state_of(warp);
        if (state == reference) {
            found.insert(found.end(), waits.begin(), waits.end());
            return has_read_clock ? WarpFinding::kReadsClock : WarpFinding::kStuck;
        }
        if (++questions != next_reference) continue;
        if (questions >= kQuestions) return WarpFinding::kUnknown;
        next_reference *= 2;
        reference = state;
        has_read_clock = false;
        waits.clear();
    }
    return WarpFinding::kUnknown;
}

bool never_goes_on(sass::Warp& warp) {
    if (warp.live == 0 || warp.active == 0) return true;  // a machine resumes paths that can run
    sass::Launch& launch = *warp.cta->launch;
    const sass::Warp before = warp;
    const std::span rows(reinterpret_cast<sass::Row*>(warp.bases[0]), launch.rows);
    const std::vector<sass::Row> contents(rows.begin(), rows.end());
    FarFuture future(*launch.environment);
    sass::Environment* const now = std::exchange(launch.environment, &future);
    std::vector<PhaseWait> waits;
    const WarpFinding finding = watch(
        warp,
        [](sass::Warp& stepped) {
            execute_next(stepped);
            return false;
        },
        waits);
    launch.environment = now;
    std::copy(contents.begin(), contents.end(), rows.begin());
    warp = before;
    return finding == WarpFinding::kStuck;
}

}  // namespace lockstep::gpu
