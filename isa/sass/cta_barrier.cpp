// SPDX-License-Identifier: Apache-2.0
// A warp has arrived once all its live threads have; a barrier without a count is complete once all
// live warps have arrived, one with a count once arrivals of warps * 32 reach it (PTX ISA,
// barrier{.cta}). Arrivals are counted, whosever they are: a warp that does not wait (bar.arrive)
// may arrive again, and the warpgroups of FlashAttention-3 give themselves their first turn so.
// Completion makes the waiting paths ready, and joins those of a warp that wait at the same pc.
#include "isa/sass/cta_barrier.h"

#include <algorithm>
#include <bit>

#include "isa/sass/barrier_observer.h"
#include "isa/sass/cluster.h"

namespace lockstep::sass {

namespace {

std::uint32_t result(const CtaBarrier& barrier) {
    switch (barrier.reduction) {
        case BarrierReduction::kAnd:
            return barrier.all ? kAllLanes : 0;
        case BarrierReduction::kOr:
            return barrier.any ? kAllLanes : 0;
        default:
            return barrier.popc;
    }
}

void release(Cta& cta, unsigned number) {
    CtaBarrier& barrier = cta.barrier[number];
    const std::uint32_t value = result(barrier);
    ++cta.releases;
    if (cta.observer != nullptr) cta.observer->barrier_completed(cta, number);
    for (Warp* warp : cta.warps) {
        std::uint32_t& arrived = barrier.arrived[warp->index];
        if (arrived == 0) continue;
        arrived = 0;
        warp->barrier_result = value;
        warp->turns = Warp::kTurns;
        warp->awaited = 0;
        warp->progress = 0;
        auto& parked = warp->parked;
        for (std::size_t i = 0; i < parked.size(); ++i) {
            Path& path = parked[i];
            if (path.status != PathStatus::kCtaBarrier || path.detail != number) continue;
            path.status = PathStatus::kReady;
            for (std::size_t j = parked.size(); j-- > i + 1;) {
                const Path& other = parked[j];
                if (other.status == PathStatus::kCtaBarrier && other.detail == number &&
                    other.pc == path.pc) {
                    path.lanes |= other.lanes;
                    parked.erase(parked.begin() + static_cast<std::ptrdiff_t>(j));
                }
            }
        }
    }
    barrier.is_awaited = false;
    barrier.arrived_warps = 0;
    barrier.expected_threads = 0;
    barrier.popc = 0;
    barrier.all = true;
    barrier.any = false;
}

void release_if_complete(Cta& cta, unsigned number) {
    const CtaBarrier& barrier = cta.barrier[number];
    if (barrier.arrived_warps == 0) return;
    if (barrier.expected_threads == 0
            ? barrier.arrived_warps >= cta.live_warps
            : barrier.arrived_warps * kWarpSize >= barrier.expected_threads)
        release(cta, number);
}

}  // namespace

void reset_barriers(Cta& cta) {
    for (CtaBarrier& barrier : cta.barrier) {
        barrier.arrived.assign(cta.warps.size(), 0);
        barrier = CtaBarrier{.arrived = std::move(barrier.arrived)};
    }
}

void arrive(Warp& warp, unsigned number, std::uint32_t count, std::uint32_t predicate,
            BarrierReduction reduction) {
    CtaBarrier& barrier = warp.cta->barrier[number];
    std::uint32_t& arrived = barrier.arrived[warp.index];
    if ((warp.live & ~arrived) == 0) arrived = 0;  // that one is counted; this is another
    arrived |= warp.active;
    if ((warp.live & ~arrived) == 0) ++barrier.arrived_warps;
    barrier.is_awaited = true;
    barrier.expected_threads = count;
    barrier.reduction = reduction;
    const std::uint32_t holds = predicate & warp.active;
    barrier.popc += static_cast<std::uint32_t>(std::popcount(holds));
    barrier.all = barrier.all && holds == warp.active;
    barrier.any = barrier.any || holds != 0;
}

void complete_barrier(Cta& cta, unsigned number) {
    release_if_complete(cta, number);
}

void note_exit(Warp& warp, std::uint32_t lanes) {
    Cta& cta = *warp.cta;
    if (warp.live == 0) --cta.live_warps;
    if (cta.member != nullptr) note_cluster_exit(cta);
    for (unsigned number = 0; number < cta.barrier.size(); ++number) {
        CtaBarrier& barrier = cta.barrier[number];
        if (!barrier.is_awaited) continue;
        // Fewer live threads may make the warp's last arrival complete. One that arrived and then
        // exited still counts where the barrier counts threads, but is not among the live ones
        // otherwise.
        const std::uint32_t arrived = barrier.arrived[warp.index];
        const bool was_counted = arrived != 0 && ((warp.live | lanes) & ~arrived) == 0;
        const bool counts = arrived != 0 && (warp.live & ~arrived) == 0 &&
                            (warp.live != 0 || barrier.expected_threads != 0);
        if (counts && !was_counted) ++barrier.arrived_warps;
        if (was_counted && !counts) --barrier.arrived_warps;
        release_if_complete(cta, number);
    }
}

}  // namespace lockstep::sass
