// SPDX-License-Identifier: Apache-2.0
// CTAs that the emulator starts and runs together: one, or those of a cluster, which see each
// other's shared memory and wait for each other at barrier.cluster.
#pragma once

#include <memory>
#include <vector>

#include "isa/sass/cluster.h"
#include "models/gpu/emulator/standstill.h"
#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/execution/cta_storage.h"
#include "models/gpu/execution/poll_watch.h"

namespace lockstep::gpu {

class CtaGroup {
  public:
    CtaGroup(sass::Launch& launch, CtaPool& pool);
    CtaGroup(const CtaGroup&) = delete;
    CtaGroup& operator=(const CtaGroup&) = delete;

    /// CTAs of one group of the launch, and groups of the grid.
    static std::uint32_t ctas(const sass::Launch& launch);
    static std::uint64_t count(const sass::Launch& launch) {
        return launch.grid.volume() / ctas(launch);
    }

    /// Sets the CTAs to their initial state.
    void start(std::uint64_t number, check::Checker* checker);
    /// Executes about `budget` warp-instructions. Throws LocatedFault.
    CtaOutcome run(std::uint64_t budget, InstructionCount& count, check::Checker* checker);
    void give_back(CtaPool& pool);

    /// None of its CTAs can do anything but poll memory (execution/poll_watch.h).
    bool polls(Poll& poll) const;
    /// The same, but a group that has been found not to poll is not looked at for twice as many
    /// calls each time: to find that out takes as long as some thousand instructions of each path.
    bool seems_to_poll(Poll& poll);
    /// Allocations may have gone.
    void forget_extents();

    /// One that has not finished, or the first.
    const sass::Cta& cta() const;

  private:
    /// Those that have not finished.
    std::vector<sass::Cta*> left() const;
    /// They have been idle, or have run for long.
    void look(InstructionCount& count, check::Checker* checker);
    CtaOutcome run_cluster(std::uint64_t budget, InstructionCount& count, check::Checker* checker);

    const sass::Launch& launch_;
    std::vector<std::unique_ptr<CtaStorage>> storage_;
    std::vector<sass::ClusterMember> members_;
    std::vector<bool> is_finished_;
    sass::Cluster cluster_;
    Standstill standstill_;
    unsigned calls_to_look_ = 0, calls_per_look_ = 1;  ///< of seems_to_poll
};

}  // namespace lockstep::gpu
