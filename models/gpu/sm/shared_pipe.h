// SPDX-License-Identifier: Apache-2.0
// One FP64 pipe for all sub-cores of an SM (Huerta et al., MICRO'25: GA10x). Each sub-core has a
// latch before it, which its oldest warp gets, and the pipe takes what has waited longest, so that
// no sub-core starves another. The arbiter is not published: with the youngest warps first, all
// CTAs of an SM end together and the pipe is idle until the next ones have loaded (1D convolutions
// on RTX 2060 and 3070 Ti then take 9 to 30% longer than measured).
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
