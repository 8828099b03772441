// SPDX-License-Identifier: Apache-2.0
// What a core's queues and arrays did when, for a trace's viewer.
#pragma once

#include <array>

#include "isa/tpu/instruction.h"
#include "models/command/queue_trace.h"
#include "models/tpu/timeline.h"

namespace lockstep::tpu {

class CoreTrace : public command::QueueTrace {
  public:
    CoreTrace(trace::Trace& trace, std::uint32_t units, Dataflow dataflow);

    /// Rows enter the array at its west edge; results leave at the south. For waveforms.
    void west(std::size_t unit, const Instruction& instruction, std::uint32_t index,
              std::uint64_t from, std::uint64_t until);
    void south(std::size_t unit, const Instruction& instruction, std::uint32_t index,
               std::uint64_t from, std::uint64_t until);
    /// What the array holds shifts in, or out.
    void shift(std::size_t unit, std::uint64_t from, std::uint64_t until);
    /// Why an array did not stream.
    void idle(std::size_t unit, ArrayState state, std::uint64_t from, std::uint64_t until);
    /// What a unit lost to others at the banks of the unified buffer, shown at the end of its work.
    void bank_stall(std::size_t queue, std::uint64_t from, std::uint64_t until);

  private:
    std::array<Track, kMaxMatrixUnits> shifts_, idles_, wests_, souths_;
    const bool shows_waves_;
    Track vector_idle_;
    trace::NameId shift_, bank_;
    std::array<trace::NameId, kArrayStates> states_;
};

}  // namespace lockstep::tpu
