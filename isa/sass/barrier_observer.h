// SPDX-License-Identifier: Apache-2.0
// What a checked run hears of CTA-wide barriers and of asynchronous copies.
#pragma once

#include <cstdint>

namespace lockstep::sass {

struct AsyncCopy;
struct Cluster;
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
    /// An instruction has started a copy; its bytes have been moved, later or much later, and its
    /// mbarrier, if it has one, knows.
    virtual void copy_started(const AsyncCopy& copy) = 0;
    virtual void copy_performed(const AsyncCopy& copy) = 0;
    /// All threads of a cluster have come to barrier.cluster.
    virtual void cluster_completed(const Cluster& cluster) = 0;
};

}  // namespace lockstep::sass
