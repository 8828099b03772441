// SPDX-License-Identifier: Apache-2.0
// Hardware: a pipelined link with credit flow control. The sender holds one credit for each buffer
// entry at the far side; a message takes the latency to arrive, its credit the credit latency to
// come back. Simplified: nothing is lost or reordered, and a message is one unit of the width.
// The ring of slots is shared by two threads without locks: see ChannelBase.
#include "sim/engine/channel.h"

#include <bit>
#include <limits>

namespace lockstep::engine {

ChannelBase::ChannelBase(Tile& sender, Tile& receiver, std::string name,
                         const ChannelParameters& parameters)
    : capacity_(parameters.capacity),
      width_(parameters.width),
      latency_(static_cast<std::uint32_t>(parameters.latency)),
      credit_latency_(static_cast<std::uint32_t>(parameters.credit_latency)),
      same_clock_(sender.clock() == receiver.clock()),
      sender_(sender),
      receiver_(receiver),
      name_(std::move(name)) {
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    LOCKSTEP_CHECK(parameters.latency >= 1 && parameters.credit_latency >= 1,
                   "channel {}: latencies are at least one cycle", name_);
    LOCKSTEP_CHECK(parameters.latency <= kMost && parameters.credit_latency <= kMost,
                   "channel {}: latencies of {} and {} cycles", name_, parameters.latency,
                   parameters.credit_latency);
    LOCKSTEP_CHECK(parameters.capacity >= 1 && parameters.capacity <= kMost,
                   "channel {}: needs a capacity", name_);
}

Time ChannelBase::lookahead() const {
    return std::min(sender_.clock().start_of(latency_),
                    receiver_.clock().start_of(credit_latency_));
}

void ChannelBase::touch(Tile& tile, bool& touched) {
    if (touched) return;
    touched = true;
    tile.touched_.push_back(this);
}

void ChannelBase::note_starved() {
    starved_ = true;
    touch(sender_, sender_touched_);
}

Cycle ChannelBase::next_credit(Cycle now) {
    if (credits(now) > 0) return now;
    if (sent_ - credited_ < capacity_) return now + 1;  // the width is used up
    return credited_ != visible_received_ ? stamp(credited_).credit : kNever;
}

std::byte* ChannelBase::stamp_send(Cycle now) {
    LOCKSTEP_CHECK(now >= last_send_, "channel {}: send at cycle {} after one at {}", name_, now,
                   last_send_);
    LOCKSTEP_CHECK(credits(now) > 0, "channel {}: send without credit at cycle {}", name_, now);
    sent_in_cycle_ = last_send_ == now ? sent_in_cycle_ + 1 : 1;
    last_send_ = now;
    Cycle ready = now + latency_;
    if (!same_clock_) ready = receiver_.clock().first_cycle_from(sender_.clock().start_of(ready));
    touch(sender_, sender_touched_);
    const std::uint32_t message = sent_++;
    if (has_spilled_ || message - credited_ > ring_.mask) [[unlikely]] {
        has_spilled_ = true;
        spilled_.push_back(ready);
        return nullptr;
    }
    stamp(message).ready = ready;
    return ring_.at(message);
}

void ChannelBase::take_spilled() {
    const auto spilled = static_cast<std::uint32_t>(spilled_.size());
    const Held held{credited_, sent_ - spilled, sent_};
    ring_ = larger_ring(std::max(std::bit_ceil(held.end - held.first), 2 * (ring_.mask + 1)), held);
    for (std::uint32_t i = 0; i < spilled; ++i) stamp(held.spilled + i).ready = spilled_[i];
    spilled_.clear();
    has_spilled_ = false;
}

std::byte* ChannelBase::stamp_receive(Cycle now) {
    LOCKSTEP_CHECK(ready(now), "channel {}: nothing to receive at cycle {}", name_, now);
    LOCKSTEP_CHECK(now >= last_receive_, "channel {}: receive at cycle {} after one at {}", name_,
                   now, last_receive_);
    last_receive_ = now;
    const std::uint32_t message = received_++;
    *next_ready_ = head_ready();
    const Cycle back = now + credit_latency_;
    stamp(message).credit =
        same_clock_ ? back : sender_.clock().first_cycle_from(receiver_.clock().start_of(back));
    touch(receiver_, receiver_touched_);
    return ring_.at(message);
}

}  // namespace lockstep::engine
