// SPDX-License-Identifier: Apache-2.0
#include "models/command/queue_trace.h"

#include <algorithm>

namespace lockstep::command {

QueueTrace::QueueTrace(trace::Trace& trace, const Description& isa, std::string_view group)
    : trace_(trace),
      isa_(isa),
      group_(group),
      recorder_(trace.recorder()),
      steps_(track("steps")),
      host_(track("host tasks")),
      queues_(isa.queues.size()) {
    for (const OpcodeRow& opcode : isa.opcodes) opcodes_.push_back(trace.name(opcode.mnemonic));
}

void QueueTrace::slice(Track& track, trace::Label label, std::uint64_t from, std::uint64_t until) {
    from = std::max(from, track.end);
    if (from >= until) return;
    recorder_.slice(track.id, label, from, until);
    track.end = until;
}

void QueueTrace::host(const std::string& name, std::uint64_t from, std::uint64_t until) {
    slice(host_, {trace_.name(name)}, from, until);
}

void QueueTrace::step(const std::string& name, std::uint64_t from, std::uint64_t until) {
    slice(steps_, {trace_.name(name)}, from, until);
}

}  // namespace lockstep::command
