// SPDX-License-Identifier: Apache-2.0
// mbarriers that asynchronous copies under way will report to. Execution copies and reports at
// issue; until a copy has come in time too, no thread may find its mbarrier complete.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep::gpu {

class CopyBarriers {
  public:
    static constexpr std::uint16_t kNone = 0xffff;

    bool empty() const { return used_ == 0; }

    /// One more copy (or group of copies) reports to the mbarrier at this offset in the shared
    /// memory of the CTA in a slot of the SM. Returns the number of their entry.
    std::uint16_t begin(std::uint32_t cta_slot, std::uint32_t offset) {
        std::uint16_t entry = find(cta_slot, offset);
        if (entry == kNone) {
            entry = find_free();
            entries_[entry].cta_slot = cta_slot;
            entries_[entry].offset = offset;
            ++used_;
        }
        ++entries_[entry].pending;
        return entry;
    }

    /// One has come. Calls wake(slot) for the warps that have waited for the last of an entry.
    template <typename F>
    void end(std::uint16_t entry, F&& wake) {
        Entry& ended = entries_[entry];
        if (--ended.pending != 0) return;
        --used_;
        for (const std::uint16_t slot : ended.waiting) wake(slot);
        ended.waiting.clear();
    }

    /// The entry of the mbarrier, or kNone: nothing that reports to it is under way.
    std::uint16_t find(std::uint32_t cta_slot, std::uint32_t offset) const {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const Entry& entry = entries_[i];
            if (entry.pending != 0 && entry.cta_slot == cta_slot && entry.offset == offset)
                return static_cast<std::uint16_t>(i);
        }
        return kNone;
    }

    /// The warp in `slot` waits until the entry has ended.
    void wait(std::uint16_t entry, std::uint16_t slot) { entries_[entry].waiting.push_back(slot); }

    void clear() {
        entries_.clear();
        used_ = 0;
    }

  private:
    struct Entry {
        std::uint32_t cta_slot = 0, offset = 0;
        std::uint32_t pending = 0;  ///< 0: the entry is free
        std::vector<std::uint16_t> waiting;
    };

    std::uint16_t find_free() {
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (entries_[i].pending == 0) return static_cast<std::uint16_t>(i);
        entries_.emplace_back();
        return static_cast<std::uint16_t>(entries_.size() - 1);
    }

    std::vector<Entry> entries_;  // few: pipeline stages of the resident CTAs
    std::uint32_t used_ = 0;
};

}  // namespace lockstep::gpu
