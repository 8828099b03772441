// SPDX-License-Identifier: Apache-2.0
// Line numbers to small indices: a hash table of fixed size with linear probing, for the tags of
// the L1 and the requests that it waits for.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace lockstep::gpu {

class LineTable {
  public:
    static constexpr std::uint32_t kNone = ~0u;

    /// For at most `capacity` lines at a time.
    explicit LineTable(std::uint32_t capacity)
        : cells_(std::bit_ceil(std::uint64_t{capacity} * 2 + 2)),
          shift_(64 - static_cast<unsigned>(std::countr_zero(cells_.size()))) {}

    std::uint32_t find(std::uint64_t line) const {
        for (std::uint64_t at = home(line);; at = next(at)) {
            if (cells_[at].index == kNone) return kNone;
            if (cells_[at].line == line) return cells_[at].index;
        }
    }

    /// The line must not be there.
    void insert(std::uint64_t line, std::uint32_t index) {
        std::uint64_t at = home(line);
        while (cells_[at].index != kNone) at = next(at);
        cells_[at] = {line, index};
    }

    /// The line must be there. Moves back what probing would no longer reach.
    void erase(std::uint64_t line) {
        std::uint64_t hole = home(line);
        while (cells_[hole].line != line || cells_[hole].index == kNone) hole = next(hole);
        for (std::uint64_t at = next(hole); cells_[at].index != kNone; at = next(at)) {
            const std::uint64_t mask = cells_.size() - 1;
            const std::uint64_t distance = (at - home(cells_[at].line)) & mask;
            if (distance < ((at - hole) & mask)) continue;
            cells_[hole] = cells_[at];
            hole = at;
        }
        cells_[hole].index = kNone;
    }

    void clear() {
        for (Cell& cell : cells_) cell.index = kNone;
    }

  private:
    struct Cell {
        std::uint64_t line = 0;
        std::uint32_t index = kNone;
    };
    std::uint64_t home(std::uint64_t line) const {
        return line * 0x9e37'79b9'7f4a'7c15ull >> shift_;  // Fibonacci hashing
    }
    std::uint64_t next(std::uint64_t at) const { return (at + 1) & (cells_.size() - 1); }

    std::vector<Cell> cells_;
    unsigned shift_;
};

}  // namespace lockstep::gpu
