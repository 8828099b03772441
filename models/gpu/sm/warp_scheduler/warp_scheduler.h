// SPDX-License-Identifier: Apache-2.0
// Which of the warps that can issue now does: a policy a file, chosen by `sub_core.scheduler`.
#pragma once

#include <bit>
#include <cstdint>

#include "models/gpu/sm/warp_context.h"
#include "models/gpu/sm/warp_scheduler/warp_policy.h"

namespace lockstep::gpu {

/// What a policy chooses among. Warps have the numbers of their slots in the sub-core.
struct IssueCandidates {
    std::uint32_t eligible;    ///< a bit each: those that can issue now; more than one
    unsigned last;             ///< who issued last
    unsigned group;            ///< warps of a group
    const WarpContext* first;  ///< of the sub-core
    unsigned stride;           ///< from one warp's context to the next one's

    bool can_issue(unsigned warp) const { return (eligible >> warp & 1) != 0; }
    /// Later warps have a larger one.
    std::uint64_t age(unsigned warp) const { return first[warp * stride].age; }
    /// The first that can issue, from `warp` on and round again.
    unsigned next_from(unsigned warp) const {
        const std::uint32_t rotated = std::rotr(eligible, static_cast<int>(warp % 32));
        return (warp + static_cast<unsigned>(std::countr_zero(rotated))) % 32;
    }
};

/// Stateless: the same candidates give the same choice. Every policy issues whenever it can, so
/// that it is asked only where more than one warp can.
class WarpScheduler {
  public:
    virtual ~WarpScheduler() = default;
    virtual unsigned choose(const IssueCandidates& candidates) const = 0;
};

const WarpScheduler& warp_scheduler(WarpPolicy policy);

// A file each.
const WarpScheduler& greedy_then_youngest();
const WarpScheduler& greedy_then_oldest();
const WarpScheduler& round_robin();
const WarpScheduler& two_level();

}  // namespace lockstep::gpu
