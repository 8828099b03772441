// SPDX-License-Identifier: Apache-2.0
// The L2 request coalescer (LRC) before a slice: reads of a line that wait for the slice together
// become one.
#pragma once

#include <array>
#include <cstdint>

#include "models/gpu/memory/crossbar_port.h"
#include "models/gpu/memory/slot_pool.h"

namespace lockstep::gpu {

/// Knows the reads that wait for a slice, in the order of their arrival, and those that it has just
/// taken. When the slice comes to a read, it follows one of the same line that it has taken shortly
/// before the read arrived, if that wants all its sectors: it is answered with it. A read that
/// passes L1 by follows only what it found waiting, and only what found it waiting follows it.
class RequestCoalescer {
  public:
    static constexpr std::uint32_t kNone = 0xffff'ffff;

    /// An SM's read that is answered with another.
    struct Follower {
        std::uint32_t id = 0;
        std::uint16_t link = 0;
        std::uint8_t gpc = kNoGpc;
        std::uint8_t sectors = 0;
        bool must_wait = false;  ///< no window is open before or after it
        std::uint32_t next = kNone;
    };

    /// `entries`: reads that others can follow at one time; 0: there is no coalescer. `merge`:
    /// reads that are answered together. `window`: cycles after a read was taken in which one that
    /// arrives still follows it.
    RequestCoalescer(std::uint32_t entries, std::uint32_t merge, engine::Cycle window)
        : entries_(entries), merge_(merge), window_(window) {
        buckets_.fill(kNone);
    }

    enum class Taken : std::uint8_t {
        kLeads,    ///< it goes to the tags
        kFollows,  ///< it is answered with another
        kAnswered  ///< likewise, and that has been answered
    };
    struct Result {
        Taken taken = Taken::kLeads;
        std::uint32_t entry = kNone;  ///< of one that leads; kNone: nothing follows it
    };
    /// The slice comes to a read that has arrived `at`; `key` names its line in the slice.
    Result take(engine::Cycle now, engine::Cycle at, std::uint32_t key, const Follower& read);
    /// The slice answers an entry's read: calls f(follower) for each that follows.
    template <typename F>
    void answer(std::uint32_t entry, F&& f) {
        for (std::uint32_t i = reads_[entry].first; i != kNone;) {
            const Follower follower = followers_[i];
            followers_.give_back(i);
            i = follower.next;
            f(follower);
        }
        reads_[entry].is_answered = true;
        if (!reads_[entry].is_open) reads_.give_back(entry);
    }

  private:
    struct Read {
        engine::Cycle taken = 0;  ///< by the slice
        engine::Cycle until = 0;  ///< arrivals that follow it
        std::uint32_t key = 0;
        std::uint32_t next = kNone;                 ///< in the bucket
        std::uint32_t first = kNone, last = kNone;  ///< followers
        std::uint16_t merged = 1;
        std::uint8_t gpc = kNoGpc;
        std::uint8_t sectors = 0;
        bool is_open = true, is_answered = false;
    };
    static constexpr std::size_t kBuckets = 128;

    const std::uint32_t entries_, merge_;
    const engine::Cycle window_;
    std::uint32_t open_ = 0;
    std::array<std::uint32_t, kBuckets> buckets_;
    SlotPool<Read> reads_;
    SlotPool<Follower> followers_;
};

}  // namespace lockstep::gpu
