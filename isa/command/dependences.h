// SPDX-License-Identifier: Apache-2.0
// Who touched what last: which instructions of other queues one has to wait for, and whether a
// program's waits say so.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "isa/command/footprint.h"
#include "isa/command/program.h"

namespace lockstep::command {

/// For each queue, a number of instructions of it, counted from the program's start.
using QueueCounts = std::array<std::uint32_t, kMaxQueues>;

class Dependences {
  public:
    /// The next instruction in program order: how many instructions of each other queue must have
    /// completed before it may start. Counts it.
    QueueCounts add(const Instruction& instruction);
    const QueueCounts& issued() const { return issued_; }
    /// What must have completed so that all that was issued to write into the range is written.
    QueueCounts writers(Id space, std::uint64_t begin, std::uint64_t end) const;

  private:
    struct Interval {
        std::uint64_t end = 0;
        std::size_t writer = 0;     // the queue that wrote it last
        std::uint32_t written = 0;  // by its instruction of this number; 0: never
        QueueCounts read{};         // since then; 0: not
    };
    using Intervals = std::map<std::uint64_t, Interval>;  // by begin

    void note(const Access& access, std::size_t own, std::uint32_t number, QueueCounts& need);

    std::array<Intervals, kMaxSpaces> intervals_;
    QueueCounts issued_{};
};

/// Whether both touch the same place, one of them writing.
bool conflict(const Instruction& a, const Instruction& b);

/// Queues that move data out of and into host memory.
std::vector<std::size_t> host_queues(const Description& isa);

/// Throws ProgramFault that names the first two instructions of different queues that touch the
/// same place, one of them writing, where the later does not wait for the earlier, directly or
/// through others: on hardware the result would depend on timing. The same of a host task, which
/// may touch all of host memory.
void check_waits(const Program& program);

}  // namespace lockstep::command
