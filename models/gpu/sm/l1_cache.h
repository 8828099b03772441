// SPDX-License-Identifier: Apache-2.0
// The tags of the L1: which sectors of which lines it holds, and which line leaves next.
#pragma once

#include <cstdint>
#include <vector>

#include "models/gpu/memory/message.h"
#include "models/gpu/memory/replacement/replacement.h"
#include "models/gpu/sm/line_table.h"

namespace lockstep::gpu {

class L1Cache {
  public:
    /// `lines` of 128 bytes in `sets`; lines that do not fill all sets alike are left out.
    /// An ideal one holds every line.
    L1Cache(std::uint32_t lines, std::uint32_t sets, ReplacementPolicy replacement,
            bool is_ideal = false);

    /// The sectors that are held; the line becomes the set's most recently used.
    std::uint8_t look_up(std::uint64_t line);
    /// The same, but nothing becomes more recently used.
    std::uint8_t held(std::uint64_t line) const {
        if (is_ideal_) return kAllSectors;
        const std::uint32_t way = find(line);
        return way == kNone ? 0 : all_[way].sectors;
    }
    /// Brings sectors, and where the line is not there, the line, in the place of the one that
    /// the replacement chooses. kFirst makes it the next to leave; kNoAllocate brings no new line.
    void fill(std::uint64_t line, std::uint8_t sectors, EvictionPriority priority);
    void invalidate(std::uint64_t line, std::uint8_t sectors);
    void clear();

    std::uint32_t lines() const { return ways_ * static_cast<std::uint32_t>(sets_.size()); }

  private:
    static constexpr std::uint32_t kNone = LineTable::kNone;
    struct Way {
        std::uint64_t line = 0;
        std::uint32_t newer = kNone, older = kNone;
        std::uint8_t sectors = 0;
        bool leaves_first = false;
    };
    struct Set {
        std::uint32_t newest = kNone, oldest = kNone, used = 0;
    };
    std::uint32_t find(std::uint64_t line) const {
        return table_.find(line, [this](std::uint32_t way) { return all_[way].line; });
    }
    std::uint32_t victim(const Set& set);
    std::uint32_t number_of(const Set& set) const {
        return static_cast<std::uint32_t>(&set - sets_.data());
    }
    /// Where age does not matter only those that leave first are, the last of them as the oldest.
    bool is_listed(const Way& way) const { return replacement_.is_by_age() || way.leaves_first; }
    Set& set_of(std::uint64_t line) { return sets_[line % sets_.size()]; }
    void unlink(Set& set, std::uint32_t way);
    void link_newest(Set& set, std::uint32_t way);
    void link_oldest(Set& set, std::uint32_t way);

    const bool is_ideal_;
    Replacement replacement_;
    std::uint32_t ways_;
    std::vector<Set> sets_;
    std::vector<Way> all_;  ///< those of a set lie together
    LineTable table_;
    bool is_empty_ = true;
};

}  // namespace lockstep::gpu
