// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/core_trace.h"

#include <algorithm>

namespace lockstep::tpu {

namespace {

constexpr std::size_t kFirstMatrix = static_cast<std::size_t>(Queue::kMatrix0);
constexpr std::string_view kHeld[] = {" weights", " sums", " inputs"};  // by dataflow
constexpr std::string_view kShifts[] = {"weight shift", "unload", "input shift"};

}  // namespace

CoreTrace::CoreTrace(trace::Trace& trace, std::uint32_t units, Dataflow dataflow)
    : trace_(trace),
      recorder_(trace.recorder()),
      shows_waves_(trace.shows_waves()),
      shift_(trace.name("shift")),
      bank_(trace.name("bank conflicts")),
      states_{trace.name("active"), trace.name("weight stall"),
              trace.name(kShifts[static_cast<std::size_t>(dataflow)]), trace.name("non-matrix")} {
    const std::string group = "core";
    steps_.id = trace.track(group, "steps");
    host_.id = trace.track(group, "host tasks");
    for (std::size_t queue = 0; queue < kQueues; ++queue) {
        const bool matrix = queue >= kFirstMatrix && queue < kFirstMatrix + kMaxMatrixUnits;
        if (matrix && queue >= kFirstMatrix + units) continue;
        const std::string name(queue_names()[queue]);
        queues_[queue].id = trace.track(group, name);
        if (queue == static_cast<std::size_t>(Queue::kVector))
            vector_idle_.id = trace.track(group, name + " idle");
        if (!matrix) continue;
        shifts_[queue - kFirstMatrix].id =
            trace.track(group, name + std::string(kHeld[static_cast<std::size_t>(dataflow)]));
        idles_[queue - kFirstMatrix].id = trace.track(group, name + " idle");
        if (!shows_waves_) continue;
        wests_[queue - kFirstMatrix].id = trace.track(group, name + " west edge");
        souths_[queue - kFirstMatrix].id = trace.track(group, name + " south edge");
    }
    for (const OpcodeRow& opcode : opcode_table()) opcodes_.push_back(trace.name(opcode.mnemonic));
}

void CoreTrace::slice(Track& track, trace::Label label, std::uint64_t from, std::uint64_t until) {
    from = std::max(from, track.end);
    if (from >= until) return;
    recorder_.slice(track.id, label, from, until);
    track.end = until;
}

void CoreTrace::work(std::size_t queue, const Instruction& instruction, std::uint32_t index,
                     std::uint64_t from, std::uint64_t until) {
    slice(queues_[queue], {opcodes_[static_cast<std::size_t>(instruction.opcode())], index}, from,
          until);
}

void CoreTrace::west(std::size_t unit, const Instruction& instruction, std::uint32_t index,
                     std::uint64_t from, std::uint64_t until) {
    if (shows_waves_)
        slice(wests_[unit], {opcodes_[static_cast<std::size_t>(instruction.opcode())], index}, from,
              until);
}

void CoreTrace::south(std::size_t unit, const Instruction& instruction, std::uint32_t index,
                      std::uint64_t from, std::uint64_t until) {
    if (shows_waves_)
        slice(souths_[unit], {opcodes_[static_cast<std::size_t>(instruction.opcode())], index},
              from, until);
}

void CoreTrace::shift(std::size_t unit, std::uint64_t from, std::uint64_t until) {
    slice(shifts_[unit], {shift_}, from, until);
}

void CoreTrace::idle(std::size_t unit, ArrayState state, std::uint64_t from, std::uint64_t until) {
    slice(idles_[unit], {states_[static_cast<std::size_t>(state)]}, from, until);
}

void CoreTrace::bank_stall(std::size_t queue, std::uint64_t from, std::uint64_t until) {
    const bool vector = queue == static_cast<std::size_t>(Queue::kVector);
    slice(vector ? vector_idle_ : idles_[queue - kFirstMatrix], {bank_}, from, until);
}

void CoreTrace::host(const std::string& name, std::uint64_t from, std::uint64_t until) {
    slice(host_, {trace_.name(name)}, from, until);
}

void CoreTrace::step(const std::string& name, std::uint64_t from, std::uint64_t until) {
    slice(steps_, {trace_.name(name)}, from, until);
}

}  // namespace lockstep::tpu
