// SPDX-License-Identifier: Apache-2.0
// What a machine's queues, its host and its program's steps did when, for a trace's viewer. A
// machine adds tracks of its units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/command/instruction.h"
#include "sim/trace/trace.h"

namespace lockstep::command {

class QueueTrace {
  public:
    /// Instruction `index` of the program kept its queue busy. A transfer is shown from the end of
    /// the one before it, with which it may have overlapped.
    void work(std::size_t queue, const Instruction& instruction, std::uint32_t index,
              std::uint64_t from, std::uint64_t until) {
        slice(queues_[queue], label(instruction, index), from, until);
    }
    /// A task of the host's.
    void host(const std::string& name, std::uint64_t from, std::uint64_t until);
    /// A step of the program, from the end of the one before.
    void step(const std::string& name, std::uint64_t from, std::uint64_t until);

  protected:
    struct Track {
        trace::TrackId id{};
        std::uint64_t end = 0;
    };

    /// Tracks of the steps and the host, in `group`.
    QueueTrace(trace::Trace& trace, const Description& isa, std::string_view group);
    ~QueueTrace() = default;

    Track track(const std::string& name) { return {trace_.track(group_, name)}; }
    void add_queue(std::size_t queue) { queues_[queue] = track(std::string(isa_.queues[queue])); }
    /// What a slice that begins before the track's last one has left of its time.
    void slice(Track& track, trace::Label label, std::uint64_t from, std::uint64_t until);
    trace::Label label(const Instruction& instruction, std::uint32_t index) const {
        return {opcodes_[instruction.number()], index};
    }

    trace::Trace& trace_;

  private:
    const Description& isa_;
    const std::string group_;
    trace::Recorder& recorder_;
    Track steps_, host_;
    std::vector<Track> queues_;
    std::vector<trace::NameId> opcodes_;
};

}  // namespace lockstep::command
