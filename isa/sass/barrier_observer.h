// SPDX-License-Identifier: Apache-2.0
// What a checked run hears of CTA-wide barriers.
#pragma once

#include <cstdint>

namespace lockstep::sass {

struct Cta;
struct Warp;

class BarrierObserver {
  public:
    virtual ~BarrierObserver() = default;
    /// The lanes of warp.mask come to a barrier for `threads` threads (0: all of the CTA's), before
    /// they count as arrived. waits: false where they only arrive (BAR.ARV).
    virtual void barrier_reached(const Warp& warp, unsigned number, std::uint32_t threads,
                                 bool waits) = 0;
    /// The barrier is complete; Cta::barrier still says who has arrived.
    virtual void barrier_completed(const Cta& cta, unsigned number) = 0;
};

}  // namespace lockstep::sass
