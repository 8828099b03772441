// SPDX-License-Identifier: Apache-2.0
// What a core's queues and arrays did when, for a trace's viewer.
#pragma once

#include <array>
#include <vector>

#include "isa/tpu/instruction.h"
#include "models/tpu/timeline.h"
#include "sim/trace/trace.h"

namespace lockstep::tpu {

class CoreTrace {
  public:
    CoreTrace(trace::Trace& trace, std::uint32_t units, Dataflow dataflow);

    /// Instruction `index` of the program kept its queue busy. A transfer is shown from the end of
    /// the one before it, with which it may have overlapped.
    void work(std::size_t queue, const Instruction& instruction, std::uint32_t index,
              std::uint64_t from, std::uint64_t until);
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
    /// A task of the host's.
    void host(const std::string& name, std::uint64_t from, std::uint64_t until);
    /// A step of the program, from the end of the one before.
    void step(const std::string& name, std::uint64_t from, std::uint64_t until);

  private:
    struct Track {
        trace::TrackId id{};
        std::uint64_t end = 0;
    };
    void slice(Track& track, trace::Label label, std::uint64_t from, std::uint64_t until);

    trace::Trace& trace_;
    trace::Recorder& recorder_;
    Track steps_, host_;
    std::array<Track, kQueues> queues_;
    std::array<Track, kMaxMatrixUnits> shifts_, idles_, wests_, souths_;
    const bool shows_waves_;
    Track vector_idle_;
    std::vector<trace::NameId> opcodes_;
    trace::NameId shift_, bank_;
    std::array<trace::NameId, kArrayStates> states_;
};

}  // namespace lockstep::tpu
