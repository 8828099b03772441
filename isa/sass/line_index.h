// SPDX-License-Identifier: Apache-2.0
// Which lines of global memory a window has touched: a hash table with open addressing from line
// numbers to places in a list. It is emptied by counting up a generation and keeps its memory.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::sass {

/// Lines of 128 bytes; a line's number is address / kLineBytes.
constexpr unsigned kLineBytes = 128;

/// One bit per byte of a line.
struct ByteMask {
    std::uint64_t half[2] = {};

    /// `bytes` (1 to 128) from `offset` on, within the line.
    static constexpr ByteMask of(unsigned offset, unsigned bytes) {
        ByteMask mask;
        for (unsigned h = 0; h < 2; ++h) {
            const unsigned begin = offset > 64 * h ? offset - 64 * h : 0;
            const unsigned past = offset + bytes > 64 * h ? offset + bytes - 64 * h : 0;
            const unsigned end = past < 64 ? past : 64;
            if (begin < end) mask.half[h] = ~0ull >> (64 - (end - begin)) << begin;
        }
        return mask;
    }
    constexpr ByteMask& operator|=(const ByteMask& other) {
        half[0] |= other.half[0];
        half[1] |= other.half[1];
        return *this;
    }
    constexpr ByteMask operator&(const ByteMask& other) const {
        return {{half[0] & other.half[0], half[1] & other.half[1]}};
    }
    constexpr bool any() const { return (half[0] | half[1]) != 0; }
    friend constexpr bool operator==(const ByteMask&, const ByteMask&) = default;
};

class LineIndex {
  public:
    static constexpr std::uint32_t kNone = ~0u;

    LineIndex() : table_(kFirstSize) {}

    bool empty() const { return size_ == 0; }
    std::uint32_t size() const { return size_; }

    /// False where neither [first, last] nor anything near it was added: the cheap filter.
    bool may_hold(std::uint64_t first, std::uint64_t last) const {
        return first <= highest_ && last >= lowest_;
    }

    /// The line's place, in the order of adding, or kNone.
    std::uint32_t find(std::uint64_t line) const {
        for (std::size_t i = slot_of(line);; i = (i + 1) & (table_.size() - 1)) {
            const Entry& entry = table_[i];
            if (entry.generation != generation_) return kNone;
            if (entry.line == line) return entry.place;
        }
    }

    /// The line's place; a line that is new gets the place size().
    std::uint32_t find_or_add(std::uint64_t line);

    void clear();

  private:
    static constexpr std::size_t kFirstSize = 256;
    struct Entry {
        std::uint64_t line = 0;
        std::uint32_t generation = 0;  // of another than the table's: free
        std::uint32_t place = 0;
    };

    std::size_t slot_of(std::uint64_t line) const {
        // Fibonacci hashing: neighbouring lines, the usual case, spread without collisions.
        return (line * 0x9e37'79b9'7f4a'7c15ull >> 32) & (table_.size() - 1);
    }
    void grow();

    std::vector<Entry> table_;  // a power of two, at most half full
    std::uint32_t generation_ = 1;
    std::uint32_t size_ = 0;
    std::uint64_t lowest_ = ~0ull, highest_ = 0;
};

}  // namespace lockstep::sass
