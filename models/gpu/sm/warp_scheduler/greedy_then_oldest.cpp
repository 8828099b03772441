// SPDX-License-Identifier: Apache-2.0
// Greedy, then oldest (GTO): a warp issues until it cannot, then the one that came first does, so
// that few warps at a time run ahead and their lines stay in the L1 (Rogers, O'Connor, Aamodt:
// "Cache-Conscious Wavefront Scheduling", MICRO 2012). The usual baseline of academic simulators.
#include <functional>

#include "models/gpu/sm/warp_scheduler/greedy.h"

namespace lockstep::gpu {

const WarpScheduler& greedy_then_oldest() {
    static const Greedy<std::less<>> scheduler;
    return scheduler;
}

}  // namespace lockstep::gpu
