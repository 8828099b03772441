// SPDX-License-Identifier: Apache-2.0
// What the greedy policies share: a warp issues until it cannot, then the first by age does.
#pragma once

#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"

namespace lockstep::gpu {

/// `Before` orders ages: std::less takes the oldest, std::greater the youngest.
template <typename Before>
class Greedy : public WarpScheduler {
  public:
    unsigned choose(const IssueCandidates& warps) const override {
        if (warps.can_issue(warps.last)) return warps.last;
        auto best = static_cast<unsigned>(std::countr_zero(warps.eligible));
        for (std::uint32_t rest = warps.eligible & (warps.eligible - 1); rest != 0;
             rest &= rest - 1) {
            const auto warp = static_cast<unsigned>(std::countr_zero(rest));
            if (Before{}(warps.age(warp), warps.age(best))) best = warp;
        }
        return best;
    }
};

}  // namespace lockstep::gpu
