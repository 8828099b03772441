// SPDX-License-Identifier: Apache-2.0
// Which lines a slice of L2 holds, and in which state. Plain data: a copy is a checkpoint.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <vector>

#include "models/gpu/memory/message.h"
#include "models/gpu/memory/replacement/replacement.h"

namespace lockstep::gpu {

inline constexpr std::uint16_t kNoMshr = 0xffff;

/// Masks are of sectors. Small, since a chip holds half a million.
struct L2Line {
    std::uint8_t valid : 4 = 0;          ///< all bytes of the sector are here
    std::uint8_t dirty : 4 = 0;          ///< some bytes are newer than DRAM's
    std::uint8_t partial : 4 = 0;        ///< some bytes are here, written without a fetch
    std::uint8_t rank : 2 = 1;           ///< of eviction: 0 goes first, 2 last
    std::uint8_t peer_has_copy : 1 = 0;  ///< the other L2 partition may hold a copy
    std::uint16_t mshr = kNoMshr;        ///< of the sectors that are being fetched
    std::uint32_t used = 0;              ///< when it was placed or, for LRU, used last
};

class L2Tags {
  public:
    static constexpr std::uint32_t kNone = 0xffff'ffff;

    L2Tags(std::uint32_t sets, std::uint32_t ways,
           ReplacementPolicy replacement = ReplacementPolicy::kLru);

    /// `key`: a line's number in the slice, doubled, plus its home partition.
    static std::uint32_t key(std::uint32_t index, std::uint32_t home) { return index * 2 + home; }

    /// The first slot of the key's set.
    std::uint32_t set(std::uint32_t key) const;
    /// Brings the set into the host's cache.
    void prefetch(std::uint32_t set) const {
        __builtin_prefetch(&keys_[set]);
        __builtin_prefetch(&lines_[set]);
        __builtin_prefetch(&lines_[set] + kHostLine / sizeof(L2Line));
    }
    /// Brings a line's state into the host's cache.
    void prefetch_line(std::uint32_t slot) const { __builtin_prefetch(&lines_[slot]); }
    /// The slot of a line; kNone where it is absent.
    std::uint32_t find(std::uint32_t set, std::uint32_t key) const;
    /// The slot of the set that a new line should take: a free one, or that of the line to evict;
    /// kNone where all lines of the set (for a copy: half of them) are being fetched.
    std::uint32_t victim(std::uint32_t set, bool for_copy);
    bool occupied(std::uint32_t slot) const { return keys_[slot] != kNone; }
    std::uint32_t key_at(std::uint32_t slot) const { return keys_[slot]; }

    std::size_t size() const { return keys_.size(); }
    L2Line& line(std::uint32_t slot) { return lines_[slot]; }
    const L2Line& line(std::uint32_t slot) const { return lines_[slot]; }
    void place(std::uint32_t slot, std::uint32_t key);
    void remove(std::uint32_t slot) { keys_[slot] = kNone; }
    /// The line was used.
    void touch(std::uint32_t slot) {
        if (replacement_.use_renews()) [[likely]]
            lines_[slot].used = ++clock_;
        else
            replacement_.use(slot / ways_, slot % ways_);
    }
    void clear();

  private:
    static constexpr std::size_t kHostLine = 64;
    /// Sets of 16 ways begin with a line of the host's cache: they lie in as few as can be.
    template <typename T>
    using Array = std::vector<T, boost::alignment::aligned_allocator<T, kHostLine>>;

    std::uint32_t choose(std::uint32_t set);

    std::uint32_t sets_, ways_;
    std::uint32_t clock_ = 0;
    Replacement replacement_;
    std::vector<std::uint32_t> placed_;  ///< slots, since they were cleared; all if it is full
    Array<std::uint32_t> keys_;          ///< by set, then way
    Array<L2Line> lines_;
};

}  // namespace lockstep::gpu
