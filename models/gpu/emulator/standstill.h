// SPDX-License-Identifier: Apache-2.0
// Finds out that CTAs wait for mbarriers that nobody is left to complete.
#pragma once

#include <span>
#include <vector>

#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/execution/mbarrier_watch.h"

namespace lockstep::gpu {

/// An mbarrier is changed by the threads of its CTA or cluster and by copies that they start. So
/// where each of their warps waits at a barrier, or asks mbarriers for ever as long as nothing
/// changes, none of them can ever go on. Clocks stand still while a loop is watched: first they
/// jump far ahead, so that waits that give up after a time have done so.
class Standstill {
  public:
    /// The CTAs of a group have been idle again. From time to time executes some instructions of
    /// each of their warps; throws the LocatedFault of a group that cannot go on.
    void look(std::span<sass::Cta* const> ctas, InstructionCount& count, check::Checker* checker);
    /// They have another CTA's number now.
    void restart() { *this = {}; }

  private:
    [[noreturn]] void report(std::span<sass::Cta* const> ctas) const;

    unsigned calls_ = 0;
    bool has_jumped_ = false;
    std::vector<PhaseWait> waits_;
};

}  // namespace lockstep::gpu
