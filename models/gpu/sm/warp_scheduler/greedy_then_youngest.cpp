// SPDX-License-Identifier: Apache-2.0
// Greedy, then youngest: a warp issues until it cannot, then the one that came last does, as
// Huerta et al. found on RTX A6000 (MICRO'25, section 5.1).
#include <functional>

#include "models/gpu/sm/warp_scheduler/greedy.h"

namespace lockstep::gpu {

const WarpScheduler& greedy_then_youngest() {
    static const Greedy<std::greater<>> scheduler;
    return scheduler;
}

}  // namespace lockstep::gpu
