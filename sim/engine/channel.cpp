// SPDX-License-Identifier: Apache-2.0
// Hardware: a pipelined link with credit flow control. The sender holds one credit for each buffer
// entry at the far side; a message takes the latency to arrive, its credit the credit latency to
// come back. Simplified: nothing is lost or reordered, and a message is one unit of the width.
// The ring of slots is shared by two threads without locks: see ChannelBase.
#include "sim/engine/channel.h"

#include <bit>

namespace lockstep::engine {

ChannelBase::ChannelBase(Tile& sender, Tile& receiver, std::string name,
                         const ChannelParameters& parameters)
    : name_(std::move(name)),
      sender_(sender),
      receiver_(receiver),
      parameters_(parameters),
      same_clock_(sender.clock() == receiver.clock()) {
    LOCKSTEP_CHECK(parameters.latency >= 1 && parameters.credit_latency >= 1,
                   "channel {}: latencies are at least one cycle", name_);
    LOCKSTEP_CHECK(parameters.capacity >= 1, "channel {}: needs a capacity", name_);
    const std::uint64_t slots = std::bit_ceil(std::uint64_t{parameters.capacity});
    mask_ = slots - 1;
    ready_at_.resize(slots);
    credit_at_.resize(slots);
}

Time ChannelBase::lookahead() const {
    return std::min(sender_.clock().start_of(parameters_.latency),
                    receiver_.clock().start_of(parameters_.credit_latency));
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
    if (sent_ - credited_ < parameters_.capacity) return now + 1;  // the width is used up
    return credited_ < visible_received_ ? credit_at_[credited_ & mask_] : kNever;
}

std::uint64_t ChannelBase::stamp_send(Cycle now) {
    LOCKSTEP_CHECK(now >= last_send_, "channel {}: send at cycle {} after one at {}", name_, now,
                   last_send_);
    LOCKSTEP_CHECK(credits(now) > 0, "channel {}: send without credit at cycle {}", name_, now);
    sent_in_cycle_ = last_send_ == now ? sent_in_cycle_ + 1 : 1;
    last_send_ = now;
    const std::uint64_t slot = sent_++ & mask_;
    const Cycle arrival = now + parameters_.latency;
    ready_at_[slot] = same_clock_
                          ? arrival
                          : receiver_.clock().first_cycle_from(sender_.clock().start_of(arrival));
    touch(sender_, sender_touched_);
    return slot;
}

std::uint64_t ChannelBase::stamp_receive(Cycle now) {
    LOCKSTEP_CHECK(ready(now), "channel {}: nothing to receive at cycle {}", name_, now);
    LOCKSTEP_CHECK(now >= last_receive_, "channel {}: receive at cycle {} after one at {}", name_,
                   now, last_receive_);
    last_receive_ = now;
    const std::uint64_t slot = received_++ & mask_;
    *next_ready_ = head_ready();
    const Cycle back = now + parameters_.credit_latency;
    credit_at_[slot] =
        same_clock_ ? back : sender_.clock().first_cycle_from(receiver_.clock().start_of(back));
    touch(receiver_, receiver_touched_);
    return slot;
}

}  // namespace lockstep::engine
