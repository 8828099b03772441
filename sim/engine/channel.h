// SPDX-License-Identifier: Apache-2.0
// A Channel: bounded, timestamped messages from one Tile to another. A Tile holds the ends, a
// Sender or a Receiver named by its role; Simulation::connect() makes the Channel between two.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
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
/// writes only its own half, and sees of the other's what commit() has shown it.
/// A chip has thousands of Channels with few messages each: what a message touches lies together,
/// for the host's cache, and the ring of slots begins small and grows between windows.
class alignas(128) ChannelBase {
  public:
    ChannelBase(Tile& sender, Tile& receiver, std::string name, const ChannelParameters&);
    ChannelBase(const ChannelBase&) = delete;
    ChannelBase& operator=(const ChannelBase&) = delete;
    virtual ~ChannelBase() = default;

    const std::string& name() const { return name_; }

    /// The shortest time in which one of the two Tiles can affect the other.
    Time lookahead() const;

    /// Messages sent and not yet taken, as of the last window's end.
    std::uint32_t in_flight() const { return visible_sent_ - visible_received_; }

    // The sender's half.
    std::uint32_t credits(Cycle now) {
        while (credited_ != visible_received_ && stamp(credited_).credit <= now) ++credited_;
        std::uint32_t free = capacity_ - (sent_ - credited_);
        if (free == 0) {
            note_starved();
            return 0;
        }
        if (width_ != 0) {
            const std::uint32_t used = last_send_ == now ? sent_in_cycle_ : 0;
            free = std::min(free, width_ - used);
        }
        return free;
    }
    Cycle next_credit(Cycle now);

    // The receiver's half.
    /// Brings into the host's cache what the following look at.
    void prefetch() const {
        __builtin_prefetch(this);
        __builtin_prefetch(&receiver_touched_);
    }
    bool ready(Cycle now) const { return *next_ready_ <= now; }
    Cycle next_ready() const { return *next_ready_; }
    void keep_next_ready(Cycle& place) { *(next_ready_ = &place) = head_ready(); }

  protected:
    /// Of a message, before its value, from its sending until its credit is back.
    struct Stamp {
        Cycle ready = 0;   ///< in the receiver's cycles; the sender writes
        Cycle credit = 0;  ///< in the sender's cycles; the receiver writes
    };
    /// Counts only grow, modulo 2^32; a count's slot is its low bits.
    struct Ring {
        std::byte* slots = nullptr;
        std::uint32_t bytes = 0;  ///< of a slot
        std::uint32_t mask = 0;   ///< slots - 1
        std::byte* at(std::uint32_t count) const {
            return slots + std::size_t{count & mask} * bytes;
        }
    };

    /// Stamps the next message; returns its slot, or null where the ring has none for it: then the
    /// value is kept until larger_ring() takes it.
    std::byte* stamp_send(Cycle now);
    /// Gives the oldest message's slot back; returns the slot.
    std::byte* stamp_receive(Cycle now);
    std::byte* head_slot() const { return ring_.at(received_); }

    /// The messages that have slots, and those that were spilled, by their counts.
    struct Held {
        std::uint32_t first, spilled, end;
    };
    /// A ring of so many slots with the stamps and values of those held, the values of those
    /// spilled included.
    virtual Ring larger_ring(std::uint32_t slots, const Held& held) = 0;

    Ring ring_;

  private:
    friend class Simulation;

    Stamp& stamp(std::uint32_t count) const { return *reinterpret_cast<Stamp*>(ring_.at(count)); }
    /// When the oldest message that the receiver sees can be read.
    Cycle head_ready() const {
        return received_ != visible_sent_ ? stamp(received_).ready : kNever;
    }
    void note_starved();
    void touch(Tile& tile, bool& touched);
    /// Gives what was spilled a slot. Between windows.
    void take_spilled();

    // The Simulation writes, between windows.
    std::uint32_t visible_sent_ = 0, visible_received_ = 0;
    // The sender writes.
    std::uint32_t sent_ = 0, credited_ = 0;
    Cycle last_send_ = 0;
    std::uint32_t sent_in_cycle_ = 0;
    // Set when made.
    const std::uint32_t capacity_, width_;
    const std::uint32_t latency_, credit_latency_;
    // The receiver writes.
    std::uint32_t received_ = 0;
    Cycle last_receive_ = 0;
    Cycle* next_ready_ = &own_next_ready_;  // head_ready(), where the receiver wants it
    // Each by one of the two.
    bool sender_touched_ = false, starved_ = false, has_spilled_ = false, receiver_touched_ = false;
    const bool same_clock_;
    Tile& sender_;
    Tile& receiver_;

    Cycle own_next_ready_ = kNever;
    std::vector<Cycle> spilled_;  // Stamp::ready of the newest messages; the sender writes
    const std::string name_;
};

template <typename T>
class Channel : public ChannelBase {
  public:
    Channel(Tile& sender, Tile& receiver, std::string name, const ChannelParameters& parameters)
        : ChannelBase(sender, receiver, std::move(name), parameters) {
        ring_ = larger_ring(std::min(std::bit_ceil(parameters.capacity), kFirstSlots), {});
    }

    void send(Cycle now, T&& value) {
        std::byte* const slot = stamp_send(now);
        (slot == nullptr ? spilled_values_.emplace_back() : value_in(slot)) = std::move(value);
    }
    const T& front() const { return value_in(head_slot()); }
    T receive(Cycle now) { return std::move(value_in(stamp_receive(now))); }

  private:
    static constexpr std::uint32_t kFirstSlots = 4;
    static constexpr std::size_t kHostLine = 64;
    /// In one line of the host's cache where it can be.
    struct alignas(std::min(kHostLine, std::bit_ceil(sizeof(Stamp) + sizeof(T)))) Slot {
        Stamp stamp;
        T value{};
    };
    static T& value_in(std::byte* slot) { return reinterpret_cast<Slot*>(slot)->value; }

    Ring larger_ring(std::uint32_t slots, const Held& held) override {
        std::vector<Slot> larger(slots);
        const std::uint32_t mask = slots - 1;
        for (std::uint32_t i = held.first; i != held.spilled; ++i)
            larger[i & mask] = std::move(slots_[i & ring_.mask]);
        for (std::uint32_t i = held.spilled; i != held.end; ++i)
            larger[i & mask].value = std::move(spilled_values_[i - held.spilled]);
        slots_ = std::move(larger);
        spilled_values_.clear();
        return {reinterpret_cast<std::byte*>(slots_.data()), sizeof(Slot), mask};
    }

    std::vector<Slot> slots_;
    std::vector<T> spilled_values_;
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
    Channel<T>* channel_ = nullptr;
    Tile& tile_;
    const std::string role_;
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
    Channel<T>* channel_ = nullptr;
    Tile& tile_;
    const std::string role_;
};

}  // namespace lockstep::engine
