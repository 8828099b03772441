// SPDX-License-Identifier: Apache-2.0
// Greedy, then youngest: a warp issues until it cannot, then the one that came last does, as
// Huerta et al. found on RTX A6000 (MICRO'25, section 5.1).
#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"

namespace lockstep::gpu {
namespace {

class GreedyThenYoungest : public WarpScheduler {
  public:
    unsigned choose(const IssueCandidates& warps) const override {
        if (warps.can_issue(warps.last)) return warps.last;
        auto best = static_cast<unsigned>(std::countr_zero(warps.eligible));
        for (std::uint32_t rest = warps.eligible & (warps.eligible - 1); rest != 0;
             rest &= rest - 1) {
            const auto warp = static_cast<unsigned>(std::countr_zero(rest));
            if (warps.age(warp) > warps.age(best)) best = warp;
        }
        return best;
    }
};

}  // namespace

const WarpScheduler& greedy_then_youngest() {
    static const GreedyThenYoungest scheduler;
    return scheduler;
}

}  // namespace lockstep::gpu
