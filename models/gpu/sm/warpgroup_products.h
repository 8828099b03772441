// SPDX-License-Identifier: Apache-2.0
// Warps and the products of their warpgroups: who has issued how many, waits for room, waits for
// results. What a product takes is in warpgroup_unit.h.
#pragma once

#include "models/gpu/sm/warpgroup_unit.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

class WarpgroupProducts {
  public:
    WarpgroupProducts(const SmParameters& parameters, Warps& warps, SmCounters& counters)
        : unit_(parameters), warps_(warps), counters_(counters) {}

    void clear() { unit_.reset(); }
    engine::Cycle next() const { return unit_.next(); }
    void advance(engine::Cycle now, MemoryUnit& memory);

    /// The warp's next product has to wait for room; the warp will be looked at when there is some.
    bool holds(WarpContext& context);
    void issue(WarpContext& context, const StaticInstruction& in, engine::Cycle now);
    void end(const Event& event);

  private:
    /// The warps of a warpgroup lie side by side, in its CTA and in the SM.
    static std::uint16_t first_of(const WarpContext& context) {
        return static_cast<std::uint16_t>(context.slot -
                                          context.warp->index % WarpgroupUnit::kWarps);
    }

    WarpgroupUnit unit_;
    Warps& warps_;
    SmCounters& counters_;
};

}  // namespace lockstep::gpu
