// SPDX-License-Identifier: Apache-2.0
// Events of one SM that lie ahead: a timing wheel for near ones, a heap for the rest. Events of a
// slot are a list of nodes, and the node that was used last is used again first: a chip has many
// wheels, and the host's caches are shared by all of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/time.h"

namespace lockstep::gpu {

template <typename Event>
class EventWheel {
  public:
    /// Schedules an event; one that is due at or before the cycle reached comes in the next.
    void schedule(engine::Cycle at, const Event& event) {
        at = std::max(at, reached_);
        next_ = std::min(next_, at);
        if (at - reached_ >= kSlots) {
            far_.push_back({at, sequence_++, event});
            std::push_heap(far_.begin(), far_.end(), later);
            return;
        }
        put(at, event);
    }

    /// The next cycle with an event; kNever: none.
    engine::Cycle next() const { return next_; }

    /// Calls handle(event) for all events due at or before `now`, in the order of their cycles.
    template <typename Handle>
    void advance(engine::Cycle now, Handle&& handle) {
        while (next_ <= now) {
            const engine::Cycle at = next_;
            reached_ = at;
            while (!far_.empty() && far_.front().at - reached_ < kSlots) {
                put(far_.front().at, far_.front().event);
                std::pop_heap(far_.begin(), far_.end(), later);
                far_.pop_back();
            }
            std::uint32_t node = std::exchange(slots_[at % kSlots], Slot{}).first;
            occupied_[at / 64 % kWords] &= ~(1ull << at % 64);
            reached_ = at + 1;
            next_ = search();
            while (node != kNone) {
                const Event event = nodes_[node].event;
                const std::uint32_t next = nodes_[node].next;
                nodes_[node].next = std::exchange(free_, node);
                node = next;
                handle(event);
            }
        }
        reached_ = std::max(reached_, now + 1);
    }

    /// Forgets everything and begins at a cycle.
    void reset(engine::Cycle now) {
        slots_.fill({});
        nodes_.clear();
        free_ = kNone;
        occupied_.fill(0);
        far_.clear();
        reached_ = now;
        next_ = engine::kNever;
    }

  private:
    static constexpr unsigned kSlots = 512;
    static constexpr unsigned kWords = kSlots / 64;
    static constexpr std::uint32_t kNone = ~0u;
    struct Node {
        Event event;
        std::uint32_t next;
    };
    struct Slot {
        std::uint32_t first = kNone, last = kNone;
    };
    struct Far {
        engine::Cycle at;
        std::uint64_t sequence;
        Event event;
    };
    engine::Cycle search() const {
        engine::Cycle near = engine::kNever;
        for (unsigned i = 0; i <= kWords; ++i) {
            const engine::Cycle at = reached_ + std::uint64_t{i} * 64;
            const unsigned first = reached_ % 64;
            const unsigned word = (at / 64) % kWords;
            std::uint64_t bits = occupied_[word];
            if (i == 0) bits &= ~0ull << first;
            if (i == kWords) bits &= first == 0 ? 0 : ~(~0ull << first);
            if (bits != 0) {
                near = (at / 64) * 64 + static_cast<unsigned>(std::countr_zero(bits));
                break;
            }
        }
        return far_.empty() ? near : std::min(near, far_.front().at);
    }
    static bool later(const Far& a, const Far& b) {
        return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
    void put(engine::Cycle at, const Event& event) {
        std::uint32_t node = free_;
        if (node == kNone) {
            node = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back({event, kNone});
        } else {
            free_ = nodes_[node].next;
            nodes_[node] = {event, kNone};
        }
        Slot& slot = slots_[at % kSlots];
        (slot.first == kNone ? slot.first : nodes_[slot.last].next) = node;
        slot.last = node;
        occupied_[at / 64 % kWords] |= 1ull << at % 64;
    }

    engine::Cycle reached_ = 0;  ///< events before it have been handled
    engine::Cycle next_ = engine::kNever;
    std::array<Slot, kSlots> slots_{};
    std::vector<Node> nodes_;
    std::uint32_t free_ = kNone;  ///< nodes that no slot has
    std::array<std::uint64_t, kWords> occupied_{};
    std::vector<Far> far_;
    std::uint64_t sequence_ = 0;
};

}  // namespace lockstep::gpu
