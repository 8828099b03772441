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
          entries_(std::size_t{sets_} * ways_) {}

    /// When the line is (or was) there; kNever: it is not.
    engine::Cycle find(std::uint64_t line) {
        Entry* const set = set_of(line);
        for (unsigned way = 0; way < ways_; ++way) {
            if (set[way].line != line) continue;
            set[way].used = ++clock_;
            return set[way].ready;
        }
        return engine::kNever;
    }

    void insert(std::uint64_t line, engine::Cycle ready) {
        Entry* const set = set_of(line);
        Entry* victim = set;
        for (unsigned way = 0; way < ways_; ++way)
            if (set[way].used < victim->used) victim = &set[way];
        *victim = {line, ready, ++clock_};
    }

    void clear() {
        if (clock_ == 0) return;  // it is empty
        clock_ = 0;
        std::fill(entries_.begin(), entries_.end(), Entry{});
    }

  private:
    struct Entry {
        std::uint64_t line = ~0ull;
        engine::Cycle ready = 0;
        std::uint64_t used = 0;
    };
    /// Any number of sets may be: 46 KiB have 23 times a power of two.
    Entry* set_of(std::uint64_t line) {
        const std::uint64_t set = mask_ != 0 ? line & mask_ : line % sets_;
        return &entries_[set * ways_];
    }

    unsigned ways_, sets_;
    std::uint64_t mask_;  ///< 0: the number of sets is no power of two (or 1)
    std::uint64_t clock_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace lockstep::gpu
