// SPDX-License-Identifier: Apache-2.0
// Line numbers to the places of a table that knows the line of each place: a hash index of fixed
// size with linear probing, for the tags of the L1 and for the lines that it waits for. Cells are
// small, because a chip has many L1s and the host's caches are shared by all of them.
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

    /// `line_of(place)`: the line that was inserted with the place.
    template <typename F>
    std::uint32_t find(std::uint64_t line, F&& line_of) const {
        for (std::uint64_t at = home(line);; at = next(at)) {
            const Cell& cell = cells_[at];
            if (cell.place == kNone) return kNone;
            if (cell.low == static_cast<std::uint32_t>(line) && line_of(cell.place) == line)
                return cell.place;
        }
    }

    /// The line must not be there.
    void insert(std::uint64_t line, std::uint32_t place) {
        std::uint64_t at = home(line);
        while (cells_[at].place != kNone) at = next(at);
        cells_[at] = {static_cast<std::uint32_t>(line), place};
    }

    /// The line must be there, with the place. Moves back what probing would no longer reach.
    void erase(std::uint64_t line, std::uint32_t place) {
        std::uint64_t hole = home(line);
        while (cells_[hole].place != place) hole = next(hole);
        const std::uint64_t mask = cells_.size() - 1;
        for (std::uint64_t at = next(hole); cells_[at].place != kNone; at = next(at)) {
            const std::uint64_t distance = (at - home(cells_[at].low)) & mask;
            if (distance < ((at - hole) & mask)) continue;
            cells_[hole] = cells_[at];
            hole = at;
        }
        cells_[hole].place = kNone;
    }

    void clear() {
        for (Cell& cell : cells_) cell.place = kNone;
    }

  private:
    struct Cell {
        std::uint32_t low = 0;  ///< bits of the line
        std::uint32_t place = kNone;
    };
    /// Of the bits that the cells hold: moving them asks for nothing that lies elsewhere.
    std::uint64_t home(std::uint64_t line) const {
        const std::uint64_t low = static_cast<std::uint32_t>(line);
        return low * 0x9e37'79b9'7f4a'7c15ull >> shift_;  // Fibonacci hashing
    }
    std::uint64_t next(std::uint64_t at) const { return (at + 1) & (cells_.size() - 1); }

    std::vector<Cell> cells_;
    unsigned shift_;
};

}  // namespace lockstep::gpu
