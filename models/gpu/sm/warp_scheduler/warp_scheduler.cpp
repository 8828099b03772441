// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/warp_scheduler/warp_scheduler.h"

#include "sim/error/error.h"

namespace lockstep::gpu {

const WarpScheduler& warp_scheduler(WarpPolicy policy) {
    switch (policy) {
        case WarpPolicy::kGreedyThenYoungest:
            return greedy_then_youngest();
        case WarpPolicy::kGreedyThenOldest:
            return greedy_then_oldest();
        case WarpPolicy::kRoundRobin:
            return round_robin();
        case WarpPolicy::kTwoLevel:
            return two_level();
    }
    throw InternalError("no such warp scheduler");
}

}  // namespace lockstep::gpu
