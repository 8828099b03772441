// SPDX-License-Identifier: Apache-2.0
// Where execution at issue is not the whole truth: warps whose next instruction could issue but
// must not be executed yet.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/sass/deferred_queue.h"
#include "models/gpu/sm/copy_groups.h"
#include "models/gpu/sm/kernel_run.h"
#include "models/gpu/sm/mbarrier_waits.h"
#include "models/gpu/sm/warpgroup_products.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

/// Instructions wait for the window's end that touch what an atomic has yet to change, and calls of
/// the system's functions; the hardware knows no such wait, but what it does takes longer than a
/// window anyway. Threads that ask an mbarrier wait until the copies that it counts as done have
/// come in time; a try_wait for its phase; products of warpgroups for room; griddepcontrol.wait for
/// the end of the kernel before. A barrier goes through the queue of memory instructions in order,
/// as the shared memory that it guards does: a warp arrives when the memory unit has all that it
/// issued before.
class HeldWarps {
  public:
    HeldWarps(const SmParameters& parameters, Warps& warps, CopyGroups& copies,
              MbarrierWaits& mbarriers, WarpgroupProducts& products, sass::DeferredQueue& deferred)
        : parameters_(parameters),
          warps_(warps),
          copies_(copies),
          mbarriers_(mbarriers),
          products_(products),
          deferred_(deferred) {}

    void clear() { grid_waiters_.clear(); }

    /// True where the warp's next instruction cannot be executed yet. The warp will be looked at
    /// again then, or the instruction executed.
    bool holds(WarpContext& context, const StaticInstruction& in) {
        const bool is_memory = in.kind == InstructionKind::kMemory && !deferred_.empty();
        const bool asks_copies = in.reads_mbarrier && copies_.has_barriers();
        if (!is_memory && !asks_copies && !in.is_phase_check && !in.may_call_system &&
            in.kind != InstructionKind::kWarpgroupProduct && !in.waits_for_grid &&
            !in.waits_for_phase && (in.kind != InstructionKind::kBarrier || context.in_queue == 0))
            [[likely]]
            return false;
        return look_at(context, in);
    }
    /// The warp's instruction, which has waited for the window's end, is to be executed.
    void end_wait(WarpContext& context) { context.waits_for_window = false; }
    /// All that waited for a window's end has been performed: true where warps go on then.
    bool end_window(engine::Cycle end);
    /// What the kernel's threads have waited for by griddepcontrol.wait has ended: true where warps
    /// go on.
    bool end_grid_wait(const KernelRun& run, engine::Cycle at);

  private:
    bool look_at(WarpContext& context, const StaticInstruction& in);
    bool hold(WarpContext& context, WarpState state) {
        warps_.enter_before(context, state, warps_.now());
        return true;
    }
    bool hold_for_window(WarpContext& context, WarpState state) {
        context.waits_for_window = true;
        for_window_.push_back(context.slot);
        return hold(context, state);
    }

    const SmParameters& parameters_;
    Warps& warps_;
    CopyGroups& copies_;
    MbarrierWaits& mbarriers_;
    WarpgroupProducts& products_;
    sass::DeferredQueue& deferred_;
    std::vector<std::uint16_t> for_window_;    ///< slots of warps that wait for its end
    std::vector<std::uint16_t> grid_waiters_;  ///< ... at griddepcontrol.wait
};

}  // namespace lockstep::gpu
