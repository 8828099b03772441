// SPDX-License-Identifier: Apache-2.0
// Entries that keep their number until they are done; numbers are used again.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::gpu {

template <typename Entry>
class SlotPool {
  public:
    /// Puts an entry into a free slot; returns its number.
    std::uint32_t take(const Entry& entry) {
        if (free_.empty()) {
            entries_.push_back(entry);
            return static_cast<std::uint32_t>(entries_.size() - 1);
        }
        const std::uint32_t number = free_.back();
        free_.pop_back();
        entries_[number] = entry;
        return number;
    }
    Entry& operator[](std::uint64_t number) { return entries_[number]; }
    /// Brings an entry into the host's cache; numbers that none has do no harm.
    void prefetch(std::uint64_t number) const {
        if (number < entries_.size()) __builtin_prefetch(&entries_[number]);
    }
    void give_back(std::uint64_t number) { free_.push_back(static_cast<std::uint32_t>(number)); }
    bool is_empty() const { return free_.size() == entries_.size(); }

  private:
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;
};

}  // namespace lockstep::gpu
