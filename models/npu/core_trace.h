// SPDX-License-Identifier: Apache-2.0
// What an NPU's queues and cores did when, for a trace's viewer.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "isa/npu/instruction.h"
#include "sim/trace/trace.h"

namespace lockstep::npu {

class CoreTrace {
  public:
    CoreTrace(trace::Trace& trace, std::uint32_t cores);

    /// Instruction `index` of the program kept its queue busy. A transfer is shown from the end of
    /// the one before it, with which it may have overlapped.
    void work(std::size_t queue, const Instruction& instruction, std::uint32_t index,
              std::uint64_t from, std::uint64_t until);
    /// A core waited for its next instruction's operands.
    void idle(std::size_t core, std::uint64_t from, std::uint64_t until);
    /// What a core lost to others at the banks of the SRAM, shown at the end of its work.
    void bank_stall(std::size_t core, std::uint64_t from, std::uint64_t until);
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
    std::array<Track, kMaxCores> stalls_;
    std::vector<trace::NameId> opcodes_;
    trace::NameId wait_, bank_;
};

}  // namespace lockstep::npu
