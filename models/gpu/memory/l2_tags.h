// SPDX-License-Identifier: Apache-2.0
// Which lines a slice of L2 holds, and in which state. Plain data: a copy is a checkpoint.
#pragma once

#include "models/gpu/memory/message.h"

#include <vector>

namespace lockstep::gpu {

inline constexpr std::uint16_t kNoMshr = 0xffff;

/// Masks are of sectors.
struct L2Line {
    std::uint8_t valid = 0;        ///< all bytes of the sector are here
    std::uint8_t dirty = 0;        ///< some bytes are newer than DRAM's
    std::uint8_t partial = 0;      ///< some bytes are here, written without having been fetched
    std::uint8_t rank = 1;         ///< of eviction: 0 goes first, 2 last
    bool peer_has_copy = false;    ///< the other L2 partition may hold a copy
    std::uint16_t mshr = kNoMshr;  ///< of the sectors that are being fetched
};

class L2Tags {
  public:
    static constexpr std::uint32_t kNone = 0xffff'ffff;

    L2Tags(std::uint32_t sets, std::uint32_t ways);

    /// `key`: a line's number in the slice, doubled, plus its home partition.
    static std::uint32_t key(std::uint32_t index, std::uint32_t home) { return index * 2 + home; }

    /// The slot of a line; kNone where it is absent.
    std::uint32_t find(std::uint32_t key) const;
    /// The slot that a new line of this key's set should take: a free one, or that of the line to
    /// evict; kNone where all lines of the set (for a copy: half of them) are being fetched.
    std::uint32_t victim(std::uint32_t key, bool for_copy) const;
    bool occupied(std::uint32_t slot) const { return keys_[slot] != kNone; }
    std::uint32_t key_at(std::uint32_t slot) const { return keys_[slot]; }

    L2Line& line(std::uint32_t slot) { return lines_[slot]; }
    void place(std::uint32_t slot, std::uint32_t key);
    void remove(std::uint32_t slot) { keys_[slot] = kNone; }
    void touch(std::uint32_t slot) { used_[slot] = ++clock_; }
    void clear();

  private:
    std::uint32_t first_slot(std::uint32_t key) const;

    std::uint32_t sets_, ways_;
    std::uint32_t clock_ = 0;
    std::vector<std::uint32_t> keys_, used_;  ///< by set, then way
    std::vector<L2Line> lines_;
};

}  // namespace lockstep::gpu
