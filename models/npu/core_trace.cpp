// SPDX-License-Identifier: Apache-2.0
#include "models/npu/core_trace.h"

namespace lockstep::npu {

namespace {

constexpr std::size_t kFirstCore = static_cast<std::size_t>(Queue::kCore0);

}  // namespace

CoreTrace::CoreTrace(trace::Trace& trace, std::uint32_t cores)
    : QueueTrace(trace, description(), "npu"),
      wait_(trace.name("waits")),
      bank_(trace.name("bank conflicts")) {
    for (std::size_t queue = 0; queue < kFirstCore + cores; ++queue) {
        add_queue(queue);
        if (queue >= kFirstCore)
            stalls_[queue - kFirstCore] =
                track(std::string(description().queues[queue]) + " stalls");
    }
}

void CoreTrace::idle(std::size_t core, std::uint64_t from, std::uint64_t until) {
    slice(stalls_[core], {wait_}, from, until);
}

void CoreTrace::bank_stall(std::size_t core, std::uint64_t from, std::uint64_t until) {
    slice(stalls_[core], {bank_}, from, until);
}

}  // namespace lockstep::npu
