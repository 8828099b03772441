// SPDX-License-Identifier: Apache-2.0
// The L2 request coalescer (LRC) before a slice: reads of a line that SMs ask for while another
// read of it is under way are answered with that one.
#pragma once

#include <array>
#include <cstdint>

#include "models/gpu/memory/crossbar_port.h"
#include "models/gpu/memory/ring.h"
#include "models/gpu/memory/slot_pool.h"

namespace lockstep::gpu {

/// Entries are open from a read's arrival until its data has left the slice. Times of calls never
/// decrease, but for what closes an entry.
class RequestCoalescer {
  public:
    static constexpr std::uint32_t kNone = 0xffff'ffff;

    /// An SM's read that waits for another's answer.
    struct Follower {
        engine::Cycle at = 0;  ///< arrival
        std::uint32_t id = 0;
        std::uint16_t link = 0;
        std::uint8_t sectors = 0;
        std::uint32_t next = kNone;
    };

    /// `entries`: open at one time; 0: there is no coalescer. `merge`: reads of an entry. An entry
    /// is closed `latency` cycles after the slice has answered: no fewer than a window has, so that
    /// all that comes in a window may be told before the slice answers any of it.
    RequestCoalescer(std::uint32_t entries, std::uint32_t merge, engine::Cycle latency)
        : entries_(entries), merge_(merge), latency_(latency) {
        buckets_.fill(kNone);
    }

    enum class Joined : std::uint8_t {
        kLeads,    ///< it goes to the slice, and others may join it
        kWaits,    ///< it is answered with its leader
        kAnswered  ///< its leader has been answered: so is it, now
    };
    struct Result {
        Joined joined = Joined::kLeads;
        std::uint32_t entry = kNone;  ///< of one that leads; kNone: nobody can join it
    };
    /// A read arrives; `key` names its line in the slice.
    Result join(engine::Cycle now, std::uint32_t key, const RoutedRequest& routed,
                std::uint16_t link);
    /// The slice answers the entry's leader: calls f(follower) for each that waits. Some may arrive
    /// later than that.
    template <typename F>
    void answer(engine::Cycle now, std::uint32_t number, F&& f) {
        Entry& entry = pool_[number];
        for (std::uint32_t i = entry.first; i != kNone;) {
            const Follower follower = followers_[i];
            followers_.give_back(i);
            i = follower.next;
            f(follower);
        }
        entry.first = entry.last = kNone;
        entry.is_answered = true;
        closing_.push({now + latency_, number});
    }
    void clear();

  private:
    struct Entry {
        std::uint32_t key = 0;
        std::uint32_t next = kNone;                 ///< in the bucket
        std::uint32_t first = kNone, last = kNone;  ///< followers
        std::uint16_t merged = 1;
        std::uint8_t sectors = 0;
        bool is_answered = false;
    };
    struct Closing {
        engine::Cycle at = 0;
        std::uint32_t entry = 0;
    };
    static constexpr std::size_t kBuckets = 128;

    std::uint32_t& bucket(std::uint32_t key) { return buckets_[(key ^ key >> 7) % kBuckets]; }
    void close_until(engine::Cycle now);

    const std::uint32_t entries_, merge_;
    const engine::Cycle latency_;
    std::uint32_t open_ = 0;
    std::array<std::uint32_t, kBuckets> buckets_;
    SlotPool<Entry> pool_;
    SlotPool<Follower> followers_;
    Ring<Closing> closing_;
};

}  // namespace lockstep::gpu
