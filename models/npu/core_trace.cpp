// SPDX-License-Identifier: Apache-2.0
#include "models/npu/core_trace.h"

#include <algorithm>

namespace lockstep::npu {

namespace {

constexpr std::size_t kFirstCore = static_cast<std::size_t>(Queue::kCore0);

}  // namespace

CoreTrace::CoreTrace(trace::Trace& trace, std::uint32_t cores)
    : trace_(trace),
      recorder_(trace.recorder()),
      wait_(trace.name("waits")),
      bank_(trace.name("bank conflicts")) {
    const std::string group = "npu";
    steps_.id = trace.track(group, "steps");
    host_.id = trace.track(group, "host tasks");
    for (std::size_t queue = 0; queue < kFirstCore + cores; ++queue) {
        const std::string name(description().queues[queue]);
        queues_[queue].id = trace.track(group, name);
        if (queue >= kFirstCore)
            stalls_[queue - kFirstCore].id = trace.track(group, name + " stalls");
    }
    for (const command::OpcodeRow& opcode : description().opcodes)
        opcodes_.push_back(trace.name(opcode.mnemonic));
}

void CoreTrace::slice(Track& track, trace::Label label, std::uint64_t from, std::uint64_t until) {
    from = std::max(from, track.end);
    if (from >= until) return;
    recorder_.slice(track.id, label, from, until);
    track.end = until;
}

void CoreTrace::work(std::size_t queue, const Instruction& instruction, std::uint32_t index,
                     std::uint64_t from, std::uint64_t until) {
    slice(queues_[queue], {opcodes_[instruction.number()], index}, from, until);
}

void CoreTrace::idle(std::size_t core, std::uint64_t from, std::uint64_t until) {
    slice(stalls_[core], {wait_}, from, until);
}

void CoreTrace::bank_stall(std::size_t core, std::uint64_t from, std::uint64_t until) {
    slice(stalls_[core], {bank_}, from, until);
}

void CoreTrace::host(const std::string& name, std::uint64_t from, std::uint64_t until) {
    slice(host_, {trace_.name(name)}, from, until);
}

void CoreTrace::step(const std::string& name, std::uint64_t from, std::uint64_t until) {
    slice(steps_, {trace_.name(name)}, from, until);
}

}  // namespace lockstep::npu
