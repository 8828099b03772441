// SPDX-License-Identifier: Apache-2.0
// Loose round robin: the warp after the one that issued last; those that cannot issue lose their
// turn. All warps advance alike, and so reach a long latency together.
#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"

namespace lockstep::gpu {
namespace {

class RoundRobin : public WarpScheduler {
  public:
    unsigned choose(const IssueCandidates& warps) const override {
        return warps.next_from(warps.last + 1);
    }
};

}  // namespace

const WarpScheduler& round_robin() {
    static const RoundRobin scheduler;
    return scheduler;
}

}  // namespace lockstep::gpu
