// SPDX-License-Identifier: Apache-2.0
// A Channel: bounded, timestamped messages from one Tile to another. A Tile holds the ends, a
// Sender or a Receiver named by its role; Simulation::connect() makes the Channel between two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/tile.h"

namespace lockstep::engine {

struct ChannelParameters {
    Cycle latency = 1;           ///< from send to readable, in cycles of the sender, >= 1
    std::uint32_t capacity = 1;  ///< credits: messages under way, queued, or not yet credited back
    Cycle credit_latency = 1;    ///< from pop to credit, in cycles of the receiver, >= 1
    std::uint32_t width = 0;  ///< messages per cycle of the sender; 0: as many as there are credits
};

/// All of a Channel but the values. The two Tiles may run at the same time on two threads: each
/// writes only its own half, and sees of the other's what commit() showed it at a window's end.
class alignas(64) ChannelBase {
  public:
    ChannelBase(Tile& sender, Tile& receiver, std::string name, const ChannelParameters&);
    ChannelBase(const ChannelBase&) = delete;
    ChannelBase& operator=(const ChannelBase&) = delete;
    virtual ~ChannelBase() = default;

    const std::string& name() const { return name_; }

    /// The shortest time in which one of the two Tiles can affect the other.
    Time lookahead() const;

    /// Messages sent and not yet taken, as of the last window's end.
    std::uint64_t in_flight() const { return visible_sent_ - visible_received_; }

    // The sender's half.
    std::uint32_t credits(Cycle now) {
        while (credited_ < visible_received_ && credit_at_[credited_ & mask_] <= now) ++credited_;
        auto free = static_cast<std::uint32_t>(parameters_.capacity - (sent_ - credited_));
        if (free == 0) {
            note_starved();
            return 0;
        }
        if (parameters_.width != 0) {
            const std::uint32_t used = last_send_ == now ? sent_in_cycle_ : 0;
            free = std::min(free, parameters_.width - used);
        }
        return free;
    }
    Cycle next_credit(Cycle now);

    // The receiver's half.
    /// Brings into the host's cache what the following look at.
    void prefetch() const {
        __builtin_prefetch(&ready_at_);
        __builtin_prefetch(&received_);
        __builtin_prefetch(&visible_sent_);
    }
    bool ready(Cycle now) const { return *next_ready_ <= now; }
    Cycle next_ready() const { return *next_ready_; }
    void keep_next_ready(Cycle& place) { *(next_ready_ = &place) = head_ready(); }

  protected:
    /// Stamps the next message; returns its slot.
    std::uint64_t stamp_send(Cycle now);
    /// Gives the oldest message's slot back; returns the slot.
    std::uint64_t stamp_receive(Cycle now);
    std::uint64_t head_slot() const { return received_ & mask_; }
    std::uint64_t slots() const { return mask_ + 1; }

  private:
    friend class Simulation;

    /// When the oldest message that the receiver sees can be read.
    Cycle head_ready() const {
        return received_ < visible_sent_ ? ready_at_[received_ & mask_] : kNever;
    }
    void note_starved();
    void touch(Tile& tile, bool& touched);

    // Set when made.
    const std::string name_;
    Tile& sender_;
    Tile& receiver_;
    const ChannelParameters parameters_;
    const bool same_clock_;
    std::uint64_t mask_;
    std::vector<Cycle> ready_at_;   // by slot, in the receiver's cycles; the sender writes
    std::vector<Cycle> credit_at_;  // by slot, in the sender's cycles; the receiver writes

    // The sender writes. Counts only grow; a count's slot is its low bits.
    alignas(64) std::uint64_t sent_ = 0;
    std::uint64_t credited_ = 0;
    Cycle last_send_ = 0;
    std::uint32_t sent_in_cycle_ = 0;
    bool sender_touched_ = false;
    bool starved_ = false;

    // The receiver writes.
    alignas(64) std::uint64_t received_ = 0;
    Cycle last_receive_ = 0;
    Cycle own_next_ready_ = kNever;
    Cycle* next_ready_ = &own_next_ready_;  // head_ready(), where the receiver wants it
    bool receiver_touched_ = false;

    // The Simulation writes, between windows.
    alignas(64) std::uint64_t visible_sent_ = 0;
    std::uint64_t visible_received_ = 0;
};

template <typename T>
class Channel : public ChannelBase {
  public:
    Channel(Tile& sender, Tile& receiver, std::string name, const ChannelParameters& parameters)
        : ChannelBase(sender, receiver, std::move(name), parameters), values_(slots()) {}

    void send(Cycle now, T&& value) { values_[stamp_send(now)] = std::move(value); }
    const T& front() const { return values_[head_slot()]; }
    T receive(Cycle now) { return std::move(values_[stamp_receive(now)]); }

  private:
    std::vector<T> values_;
};

/// The end that a Tile sends from. Cycles are those of the Tile and never decrease from call to
/// call.
template <typename T>
class Sender {
  public:
    Sender(Tile& tile, std::string role) : tile_(tile), role_(std::move(role)) {}
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    bool connected() const { return channel_ != nullptr; }
    /// How many messages may be sent in this cycle. After 0 for want of credits, the Tile is woken
    /// when one comes back.
    std::uint32_t credits(Cycle now) { return channel_->credits(now); }
    /// The next cycle in which a message may be sent, as far as is known; kNever: not known yet.
    Cycle next_credit(Cycle now) { return channel_->next_credit(now); }
    /// Sends at a cycle, now or later, not before that of the last message; needs a credit.
    void send(Cycle now, T value) { channel_->send(now, std::move(value)); }

  private:
    friend class Simulation;
    Tile& tile_;
    const std::string role_;
    Channel<T>* channel_ = nullptr;
};

/// The end that a Tile receives at. Cycles are those of the Tile.
template <typename T>
class Receiver {
  public:
    Receiver(Tile& tile, std::string role) : tile_(tile), role_(std::move(role)) {}
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    bool connected() const { return channel_ != nullptr; }
    /// Brings the Channel into the host's cache, for those who look at many in turn.
    void prefetch() const { channel_->prefetch(); }
    /// Whether a message can be read in this cycle.
    bool ready(Cycle now) const { return channel_->ready(now); }
    /// When the oldest message can be read; kNever where none is known. The Tile is woken then.
    Cycle next_ready() const { return channel_->next_ready(); }
    /// Keeps next_ready() at a place of the Tile's: those who look at many in turn need not visit
    /// each Channel.
    void keep_next_ready(Cycle& place) { channel_->keep_next_ready(place); }
    /// The oldest message; only where ready().
    const T& front() const { return channel_->front(); }
    /// Takes the oldest message and sends its credit back; only where ready().
    T receive(Cycle now) { return channel_->receive(now); }

  private:
    friend class Simulation;
    Tile& tile_;
    const std::string role_;
    Channel<T>* channel_ = nullptr;
};

}  // namespace lockstep::engine
