// SPDX-License-Identifier: Apache-2.0
// One FP64 pipe for all sub-cores of an SM (Huerta et al., MICRO'25: GA10x). Each sub-core has a
// latch before it, which a warp of its scheduler's choice gets as with any pipe, and the pipe takes
// what has waited longest, so that no sub-core starves another. The arbiter is not published; with
// the oldest warps first, 1D convolutions on RTX 2060 and 3070 Ti are 5 to 13% too fast.
#pragma once

#include <algorithm>

#include "sim/engine/time.h"

namespace lockstep::gpu {

class SharedPipe {
  public:
    /// An instruction that enters a latch at `now`; returns when the pipe takes it, from when on
    /// the latch is free.
    engine::Cycle take(engine::Cycle now, unsigned interval) {
        const engine::Cycle start = std::max(now, free_);
        free_ = start + interval;
        return start;
    }

  private:
    engine::Cycle free_ = 0;
};

}  // namespace lockstep::gpu
