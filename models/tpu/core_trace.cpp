// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/core_trace.h"

namespace lockstep::tpu {

namespace {

constexpr std::size_t kFirstMatrix = static_cast<std::size_t>(Queue::kMatrix0);
constexpr std::string_view kHeld[] = {" weights", " sums", " inputs"};  // by dataflow
constexpr std::string_view kShifts[] = {"weight shift", "unload", "input shift"};

}  // namespace

CoreTrace::CoreTrace(trace::Trace& trace, std::uint32_t units, Dataflow dataflow)
    : QueueTrace(trace, description(), "core"),
      shows_waves_(trace.shows_waves()),
      shift_(trace.name("shift")),
      bank_(trace.name("bank conflicts")),
      states_{trace.name("active"), trace.name("weight stall"),
              trace.name(kShifts[static_cast<std::size_t>(dataflow)]), trace.name("non-matrix")} {
    for (std::size_t queue = 0; queue < kQueues; ++queue) {
        const bool matrix = queue >= kFirstMatrix && queue < kFirstMatrix + kMaxMatrixUnits;
        if (matrix && queue >= kFirstMatrix + units) continue;
        const std::string name(queue_names()[queue]);
        add_queue(queue);
        if (queue == static_cast<std::size_t>(Queue::kVector)) vector_idle_ = track(name + " idle");
        if (!matrix) continue;
        shifts_[queue - kFirstMatrix] =
            track(name + std::string(kHeld[static_cast<std::size_t>(dataflow)]));
        idles_[queue - kFirstMatrix] = track(name + " idle");
        if (!shows_waves_) continue;
        wests_[queue - kFirstMatrix] = track(name + " west edge");
        souths_[queue - kFirstMatrix] = track(name + " south edge");
    }
}

void CoreTrace::west(std::size_t unit, const Instruction& instruction, std::uint32_t index,
                     std::uint64_t from, std::uint64_t until) {
    if (shows_waves_) slice(wests_[unit], label(instruction, index), from, until);
}

void CoreTrace::south(std::size_t unit, const Instruction& instruction, std::uint32_t index,
                      std::uint64_t from, std::uint64_t until) {
    if (shows_waves_) slice(souths_[unit], label(instruction, index), from, until);
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

}  // namespace lockstep::tpu
