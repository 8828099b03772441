// SPDX-License-Identifier: Apache-2.0
// What a system asks of a chip: to run kernels from a time on, several at once where it can.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "models/timeline.h"

namespace lockstep::system {

/// A kernel that has ended.
struct GridEnd {
    WorkId work = 0;
    SimulatedTime at = 0;
    LaunchResult result;
};

class Processor {
  public:
    virtual ~Processor() = default;

    /// Throws LaunchRefused where the kernel cannot run at all.
    virtual void check(const LaunchRequest& request) = 0;

    /// Kernels that run, and how many can at one time.
    virtual std::size_t grids() const = 0;
    virtual std::size_t max_grids() const = 0;

    /// Starts a kernel at a time, or as soon after as it can; what it does from then on is seen by
    /// run(). The parameters stay where they are until it has ended.
    virtual void start(WorkId work, const KernelWork& kernel, int priority, SimulatedTime at) = 0;

    /// Runs what has been started, up to a time, until a kernel has ended (at a time that may lie a
    /// little ahead), or for a bounded number of steps of its own. Returns how far it has come.
    /// Throws DeviceFault.
    virtual SimulatedTime run(SimulatedTime until, std::vector<GridEnd>& ended) = 0;

    /// Of several processors one run() takes all of them along: kernels of this one that have ended
    /// meanwhile, or before any time passed.
    virtual void collect(std::vector<GridEnd>&) {}

    /// Kernels all of whose CTAs have triggered dependent launches or ended since this was last
    /// asked, and when.
    virtual std::vector<std::pair<WorkId, SimulatedTime>> take_triggered() { return {}; }

    /// How long a transfer within its memory takes by itself.
    virtual SimulatedTime copy_time(std::uint64_t bytes) = 0;
    virtual SimulatedTime fill_time(std::uint64_t bytes) = 0;

    /// A copy engine reads or writes so much of its memory, beside what runs: in this time, if
    /// nothing holds it up.
    virtual void carry(WorkId /*transfer*/, bool /*writes*/, std::uint64_t /*bytes*/,
                       SimulatedTime /*begin*/, SimulatedTime /*end*/) {}
    /// How much longer a transfer takes at the least, at a time that the processor has reached; 0:
    /// all of its traffic is done.
    virtual SimulatedTime left(WorkId /*transfer*/, SimulatedTime /*now*/) { return 0; }

    /// Everything that runs goes round in circles until somebody writes memory.
    virtual bool spins() const = 0;

    /// Something of the host's or of a stream's for the trace, if there is one.
    virtual void trace(const std::string& track, const std::string& name, SimulatedTime begin,
                       SimulatedTime end) = 0;
    virtual bool is_traced() const = 0;

    /// What runs, and what it waits for.
    virtual std::string explain_wait() const = 0;
};

}  // namespace lockstep::system
