// SPDX-License-Identifier: Apache-2.0
// Greedy, then oldest (GTO): a warp issues until it cannot, then the one that came first does, so
// that few warps at a time run ahead and their lines stay in the L1 (Rogers, O'Connor, Aamodt:
// "Cache-Conscious Wavefront Scheduling", MICRO 2012). The usual baseline of academic simulators.
#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"

namespace lockstep::gpu {
namespace {

class GreedyThenOldest : public WarpScheduler {
  public:
    unsigned choose(const IssueCandidates& warps) const override {
        if (warps.can_issue(warps.last)) return warps.last;
        auto best = static_cast<unsigned>(std::countr_zero(warps.eligible));
        for (std::uint32_t rest = warps.eligible & (warps.eligible - 1); rest != 0;
             rest &= rest - 1) {
            const auto warp = static_cast<unsigned>(std::countr_zero(rest));
            if (warps.age(warp) < warps.age(best)) best = warp;
        }
        return best;
    }
};

}  // namespace

const WarpScheduler& greedy_then_oldest() {
    static const GreedyThenOldest scheduler;
    return scheduler;
}

}  // namespace lockstep::gpu
