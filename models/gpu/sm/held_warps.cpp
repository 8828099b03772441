// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/held_warps.h"

#include "isa/sass/semantics/address.h"
#include "isa/sass/system_call.h"
#include "models/gpu/sm/sleep.h"

namespace lockstep::gpu {

bool HeldWarps::look_at(WarpContext& context, const StaticInstruction& in) {
    sass::Warp& warp = *context.warp;
    const sass::Instruction& code = context.code[warp.pc];
    warp.mask = warp.active & (warp.predicate[code.guard] ^ code.guard_invert);
    if (warp.mask == 0) return false;
    if (in.is_phase_check) {
        context.has_asked = true;
        context.asked_at = warps_.now();
        context.asked_pc = warp.pc;
    }
    if (in.kind == InstructionKind::kWarpgroupProduct)
        return products_.holds(context) && hold(context, WarpState::kMathPipeThrottle);
    if (in.kind == InstructionKind::kBarrier && context.in_queue != 0) {
        context.waits_for_queue = true;
        return hold(context, WarpState::kBarrier);
    }
    if (in.waits_for_grid) {
        if (!context.grid->run->awaits_grid) return false;
        context.waits_for_grid = true;
        grid_waiters_.push_back(context.slot);
        return hold(context, WarpState::kMembar);
    }
    if (in.reads_mbarrier && copies_.has_barriers()) {
        sass::compute_addresses(code, warp);
        if (copies_.holds(context)) return hold(context, WarpState::kLongScoreboard);
    }
    if (in.waits_for_phase)
        return mbarriers_.waits(context, sleep_cycles(parameters_, context, warp.pc)) &&
               hold(context, WarpState::kSleeping);
    if (in.is_try_wait)
        return mbarriers_.holds(context, code) && hold(context, WarpState::kLongScoreboard);
    if (in.kind == InstructionKind::kMemory && !deferred_.empty())
        return deferred_.overlaps(*context.grid->run->launch->program, warp.pc, warp) &&
               hold_for_window(context, WarpState::kLongScoreboard);
    if (!in.may_call_system || !sass::calls_system(code, warp)) return false;
    deferred_.set_cycle(warps_.now());
    deferred_.defer(code, warp);
    return hold_for_window(context, WarpState::kMisc);
}

bool HeldWarps::end_window(engine::Cycle end) {
    if (for_window_.empty()) return false;
    for (const std::uint16_t slot : for_window_) {
        WarpContext& context = warps_[slot];
        if (!context.waits_for_window) continue;
        context.waits_for_window = false;
        warps_.wake(context, end);
    }
    for_window_.clear();
    return true;
}

bool HeldWarps::end_grid_wait(const KernelRun& run, engine::Cycle at) {
    return std::erase_if(grid_waiters_, [&](std::uint16_t slot) {
               WarpContext& context = warps_[slot];
               if (context.grid == nullptr || context.grid->run != &run) return false;
               context.waits_for_grid = false;
               warps_.wake(context, at);
               return true;
           }) != 0;
}

}  // namespace lockstep::gpu
