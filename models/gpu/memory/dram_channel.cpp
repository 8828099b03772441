// SPDX-License-Identifier: Apache-2.0
// Requests cross from the SM's clock to the memory's command clock and back; the ways (the
// controller's front end, the PHY) are constants. The controller's queues are small; what finds
// them full waits in order before them.
#include "models/gpu/memory/dram_channel.h"

#include <algorithm>
#include <bit>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;
namespace dram = memory::dram;

namespace {

constexpr std::uint64_t kPicosecondsTimesKilohertz = 1'000'000'000;

// A time is taken apart into whole milliseconds (1e9 ps, as many clocks as the clock has kHz) and
// the rest, so that no product overflows, however long the simulated time.

dram::Cycle clocks_up(engine::Time ps, std::uint64_t khz) {
    return ps / kPicosecondsTimesKilohertz * khz +
           (ps % kPicosecondsTimesKilohertz * khz + kPicosecondsTimesKilohertz - 1) /
               kPicosecondsTimesKilohertz;
}

engine::Time start_of(dram::Cycle clock, std::uint64_t khz) {
    return clock / khz * kPicosecondsTimesKilohertz +
           clock % khz * kPicosecondsTimesKilohertz / khz;
}

engine::Time start_of_up(dram::Cycle clock, std::uint64_t khz) {
    return clock / khz * kPicosecondsTimesKilohertz +
           (clock % khz * kPicosecondsTimesKilohertz + khz - 1) / khz;
}

}  // namespace

DramChannel::DramChannel(const MemoryParameters& parameters, std::uint32_t number)
    : parameters_(parameters),
      controller_(parameters.dram, parameters.controller(parameters.refresh_phase(number))) {
    if (parameters.ideal_dram)
        ideal_.emplace(parameters.open_row_latency, parameters.dram.organisation.burst_bytes());
}

/// The first command clock at or after the SM cycle's begin.
dram::Cycle DramChannel::dram_cycle(Cycle at) const {
    return clocks_up(parameters_.clock.start_of(at), parameters_.dram.clock_khz);
}

Cycle DramChannel::sm_cycle(dram::Cycle at) const {
    return parameters_.clock.first_cycle_from(start_of_up(at, parameters_.dram.clock_khz));
}

void DramChannel::request(Cycle at, const Transfer& transfer) {
    if (ideal_)
        return ideal_->request(at, transfer,
                               static_cast<std::uint32_t>(std::popcount(transfer.sectors)),
                               transfer.direction == dram::Direction::kRead);
    const std::uint32_t entry =
        entries_.take({transfer, static_cast<std::uint8_t>(std::popcount(transfer.sectors)), 0});
    Ring<Request>& queue = transfer.direction == dram::Direction::kRead ? reads_ : writes_;
    queue.push_sorted({dram_cycle(at + parameters_.dram_request_latency), entry, transfer.sectors},
                      [](const Request& a, const Request& b) { return a.at < b.at; });
}

/// Lets the queue's oldest request into the controller as far as it has arrived and finds room;
/// true where all of it went.
bool DramChannel::offer(Ring<Request>& queue, dram::Direction direction, dram::Cycle now) {
    if (queue.empty() || queue.front().at > now) return false;
    Request& request = queue.front();
    for (; request.sectors != 0;
         request.sectors &= static_cast<std::uint8_t>(request.sectors - 1)) {
        dram::Location location = entries_[request.entry].transfer.location;
        location.column += static_cast<std::uint32_t>(std::countr_zero(request.sectors));
        if (!controller_.enqueue(direction, location, request.entry, now)) return false;
    }
    queue.pop();
    return true;
}

void DramChannel::advance(Cycle until, std::vector<Completion>& completions) {
    if (ideal_)
        return ideal_->advance([&](Cycle at, const Transfer& transfer) {
            completions.push_back({at, transfer});
        });
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
    for (const dram::Completion& done : controller_.completions()) {
        Entry& entry = entries_[done.id];
        entry.last = std::max(entry.last, done.cycle);
        if (--entry.left != 0) continue;
        completions.push_back(
            {sm_cycle(entry.last) + parameters_.dram_reply_latency, entry.transfer});
        entries_.give_back(done.id);
    }
    controller_.clear_completions();
}

Cycle DramChannel::next_event() const {
    if (ideal_) return ideal_->next_event();
    dram::Cycle next = controller_.next_event();
    for (const Ring<Request>* queue : {&reads_, &writes_})
        if (!queue->empty()) next = std::min(next, std::max(queue->front().at, reached_));
    return next == dram::kNever
               ? kNever
               : parameters_.clock.cycle_at(start_of(next, parameters_.dram.clock_khz));
}

}  // namespace lockstep::gpu
