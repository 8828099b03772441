// SPDX-License-Identifier: Apache-2.0
// Requests cross from the SM's clock to the memory's command clock and back; the ways (the
// controller's front end, the PHY) are constants. The controller's queues are small; what finds
// them full waits in order before them.
#include "models/gpu/memory/dram_channel.h"

#include <algorithm>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;
namespace dram = memory::dram;

namespace {
constexpr std::uint64_t kPicosecondsTimesKilohertz = 1'000'000'000;
}

DramChannel::DramChannel(const MemoryParameters& parameters)
    : parameters_(parameters),
      controller_(parameters.dram, {.refresh = parameters.refresh,
                                    .read_queue = parameters.read_queue,
                                    .write_queue = parameters.write_queue}) {}

/// The first command clock at or after the SM cycle's begin; exact for 11 s of simulated time.
dram::Cycle DramChannel::dram_cycle(Cycle at) const {
    const std::uint64_t scaled = parameters_.clock.start_of(at) * parameters_.dram.clock_khz;
    return (scaled + kPicosecondsTimesKilohertz - 1) / kPicosecondsTimesKilohertz;
}

Cycle DramChannel::sm_cycle(dram::Cycle at) const {
    const std::uint64_t khz = parameters_.dram.clock_khz;
    return parameters_.clock.first_cycle_from((at * kPicosecondsTimesKilohertz + khz - 1) / khz);
}

void DramChannel::request(Cycle at, dram::Direction direction, const dram::Location& location,
                          std::uint64_t id) {
    Ring<Request>& queue = direction == dram::Direction::kRead ? reads_ : writes_;
    queue.push_sorted({dram_cycle(at + parameters_.dram_request_latency), location, id},
                      [](const Request& a, const Request& b) { return a.at < b.at; });
}

/// True where the queue's oldest request has arrived and went into the controller.
bool DramChannel::offer(Ring<Request>& queue, dram::Direction direction, dram::Cycle now) {
    if (queue.empty() || queue.front().at > now) return false;
    if (!controller_.enqueue(direction, queue.front().location, queue.front().id, now))
        return false;
    queue.pop();
    return true;
}

void DramChannel::advance(Cycle until, std::vector<Completion>& completions) {
    const dram::Cycle end = dram_cycle(until);
    while (reached_ < end) {
        while (offer(reads_, dram::Direction::kRead, reached_)) {
        }
        while (offer(writes_, dram::Direction::kWrite, reached_)) {
        }
        // Until somebody arrives, or has been refused and may find room after the next command.
        dram::Cycle next = end;
        for (const Ring<Request>* queue : {&reads_, &writes_}) {
            if (queue->empty()) continue;
            next = std::min(next, queue->front().at > reached_ ? queue->front().at
                                                               : controller_.next_event() + 1);
        }
        controller_.advance(next);
        reached_ = next;
    }
    for (const dram::Completion& done : controller_.completions())
        completions.push_back({sm_cycle(done.cycle) + parameters_.dram_reply_latency, done.id});
    controller_.clear_completions();
}

Cycle DramChannel::next_event() const {
    dram::Cycle next = controller_.next_event();
    for (const Ring<Request>* queue : {&reads_, &writes_})
        if (!queue->empty()) next = std::min(next, std::max(queue->front().at, reached_));
    return next == dram::kNever ? kNever
                                : parameters_.clock.cycle_at(next * kPicosecondsTimesKilohertz /
                                                             parameters_.dram.clock_khz);
}

}  // namespace lockstep::gpu
