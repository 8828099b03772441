// SPDX-License-Identifier: Apache-2.0
// What an NPU's queues and cores did when, for a trace's viewer.
#pragma once

#include <array>

#include "isa/npu/instruction.h"
#include "models/command/queue_trace.h"

namespace lockstep::npu {

class CoreTrace : public command::QueueTrace {
  public:
    CoreTrace(trace::Trace& trace, std::uint32_t cores);

    /// A core waited for its next instruction's operands.
    void idle(std::size_t core, std::uint64_t from, std::uint64_t until);
    /// What a core lost to others at the banks of the SRAM, shown at the end of its work.
    void bank_stall(std::size_t core, std::uint64_t from, std::uint64_t until);

  private:
    std::array<Track, kMaxCores> stalls_;
    trace::NameId wait_, bank_;
};

}  // namespace lockstep::npu
