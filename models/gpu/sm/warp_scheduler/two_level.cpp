// SPDX-License-Identifier: Apache-2.0
// Two levels (Narasiman et al.: "Improving GPU Performance via Large Warps and Two-Level Warp
// Scheduling", MICRO 2011): warps form groups by slot; within the group that has the turn they
// issue round robin, and when none of it can, the next group gets the turn. Groups so reach long
// latencies one after the other. Simplified: a group keeps the turn by being able to issue alone,
// whatever its warps wait for.
#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"

namespace lockstep::gpu {
namespace {

class TwoLevel : public WarpScheduler {
  public:
    unsigned choose(const IssueCandidates& warps) const override {
        const unsigned begin = warps.last / warps.group * warps.group;
        IssueCandidates group = warps;
        group.eligible &= static_cast<std::uint32_t>(((1ull << warps.group) - 1) << begin);
        if (group.eligible != 0) return group.next_from(warps.last + 1);
        return warps.next_from(begin + warps.group);
    }
};

}  // namespace

const WarpScheduler& two_level() {
    static const TwoLevel scheduler;
    return scheduler;
}

}  // namespace lockstep::gpu
