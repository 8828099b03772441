// SPDX-License-Identifier: Apache-2.0
// Tags of a small cache: which lines are there and from which cycle on. Least recently used.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace lockstep::gpu {

class TagArray {
  public:
    TagArray(unsigned lines, unsigned ways)
        : ways_(std::max(1u, std::min(ways, lines))),
          sets_(std::max(1u, lines / ways_)),
          mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
          lines_(std::size_t{sets_} * ways_, kNoLine),
          uses_(lines_.size()) {}

    /// When the line is (or was) there; kNever: it is not.
    engine::Cycle find(std::uint64_t line) {
        const std::size_t set = set_of(line);
        for (std::size_t at = set; at < set + ways_; ++at) {
            if (lines_[at] != line) continue;
            uses_[at].last = ++clock_;
            return uses_[at].ready;
        }
        return engine::kNever;
    }

    void insert(std::uint64_t line, engine::Cycle ready) {
        const std::size_t set = set_of(line);
        std::size_t victim = set;
        for (std::size_t at = set; at < set + ways_; ++at)
            if (uses_[at].last < uses_[victim].last) victim = at;
        lines_[victim] = line;
        uses_[victim] = {ready, ++clock_};
    }

    void clear() {
        if (clock_ == 0) return;  // it is empty
        clock_ = 0;
        std::fill(lines_.begin(), lines_.end(), kNoLine);
        std::fill(uses_.begin(), uses_.end(), Use{});
    }

  private:
    static constexpr std::uint64_t kNoLine = ~0ull;
    struct Use {
        engine::Cycle ready = 0;
        std::uint64_t last = 0;
    };
    /// Any number of sets may be: 46 KiB have 23 times a power of two.
    std::size_t set_of(std::uint64_t line) const {
        return (mask_ != 0 ? line & mask_ : line % sets_) * ways_;
    }

    unsigned ways_, sets_;
    std::uint64_t mask_;  ///< 0: the number of sets is no power of two (or 1)
    std::uint64_t clock_ = 0;
    // A search passes through many lines and needs no more of them than their numbers.
    std::vector<std::uint64_t> lines_;
    std::vector<Use> uses_;
};

}  // namespace lockstep::gpu
