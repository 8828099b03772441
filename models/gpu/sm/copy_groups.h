// SPDX-License-Identifier: Apache-2.0
// Groups of LDGSTS, by warp: LDGDEPBAR closes one, which a dependence counter waits for;
// ARRIVES.LDGSTSBAR closes one that reports to an mbarrier. Threads that ask that mbarrier wait
// until the copies that it counts as done have come in time.
#pragma once

#include <string>

#include "models/gpu/sm/copy_barriers.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

class CopyGroups {
  public:
    CopyGroups(const std::string& sm, Warps& warps) : sm_(sm), warps_(warps) {}

    void clear() { barriers_.clear(); }

    /// One more LDGSTS of the open group, and the end of one.
    void add(WarpContext& context) {
        ++context.group_pending[context.open_group % WarpContext::kCopyGroups];
    }
    void end(WarpContext& context, std::uint16_t group) {
        --context.group_pending[group % WarpContext::kCopyGroups];
        finish(context, warps_.now());
    }

    /// Closes the open group; its end releases a dependence counter.
    void close(WarpContext& context, std::uint8_t counter, engine::Cycle now) {
        context.group_counter = counter;
        close_for(context, CopyBarriers::kNone, now);
    }
    /// ... or arrives at the mbarrier at an offset in the CTA's shared memory.
    void close_for_mbarrier(WarpContext& context, std::uint32_t offset, engine::Cycle now) {
        close_for(context, barriers_.begin(context.cta_slot, offset), now);
    }

    /// Some mbarrier waits for copies.
    bool has_barriers() const { return !barriers_.empty(); }
    /// The warp, which asks mbarriers at the addresses of its access, has to wait for copies of one
    /// of them; it will be looked at when they have come.
    bool holds(WarpContext& context);

  private:
    void close_for(WarpContext& context, std::uint16_t barrier, engine::Cycle now);
    void finish(WarpContext& context, engine::Cycle now);
    void end_copy(std::uint16_t barrier, engine::Cycle now);

    const std::string& sm_;
    Warps& warps_;
    CopyBarriers barriers_;
};

}  // namespace lockstep::gpu
