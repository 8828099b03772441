// SPDX-License-Identifier: Apache-2.0
// Lines that the L1 waits for, and the instructions that wait for their sectors.
#pragma once

#include <cstdint>
#include <vector>

#include "models/gpu/memory/message.h"
#include "models/gpu/memory/slot_pool.h"
#include "models/gpu/sm/line_table.h"

namespace lockstep::gpu {

class MissTable {
  public:
    static constexpr std::uint32_t kNone = LineTable::kNone;
    struct Entry {
        std::uint64_t line = 0;
        std::uint8_t pending = 0;  ///< sectors that have been asked for and have not come
        EvictionPriority priority = EvictionPriority::kNormal;
        bool may_fill = true;  ///< false: the L1 was invalidated since
        std::uint32_t waiters = kNone;
    };

    explicit MissTable(std::uint32_t entries);

    std::uint32_t find(std::uint64_t line) const {
        return table_.find(line, [this](std::uint32_t entry) { return entries_[entry].line; });
    }
    bool is_full() const { return free_.empty(); }
    bool is_empty() const { return free_.size() == entries_.size(); }
    std::size_t size() const { return entries_.size() - free_.size(); }
    /// An entry for a line that has none; the table must not be full.
    std::uint32_t add(std::uint64_t line, EvictionPriority priority);
    Entry& operator[](std::uint32_t entry) { return entries_[entry]; }
    /// `waiter` is told when the sectors have come; all of them must be pending.
    void wait(std::uint32_t entry, std::uint8_t sectors, std::uint32_t waiter);
    /// Sectors have come: calls served(waiter) for those that have all of theirs now, and frees the
    /// entry when nothing is pending any more.
    template <typename F>
    void arrive(std::uint32_t entry, std::uint8_t sectors, F&& served);
    /// What is under way now must not be kept when it comes.
    void forbid_fills();

  private:
    struct Waiter {
        std::uint32_t waiter = 0;
        std::uint32_t next = kNone;
        std::uint8_t sectors = 0;
    };
    void remove(std::uint32_t entry);

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;
    SlotPool<Waiter> waiters_;
    LineTable table_;
};

template <typename F>
void MissTable::arrive(std::uint32_t entry, std::uint8_t sectors, F&& served) {
    entries_[entry].pending &= static_cast<std::uint8_t>(~sectors);
    std::uint32_t* link = &entries_[entry].waiters;
    while (*link != kNone) {
        Waiter& waiter = waiters_[*link];
        waiter.sectors &= static_cast<std::uint8_t>(~sectors);
        if (waiter.sectors != 0) {
            link = &waiter.next;
            continue;
        }
        const std::uint32_t node = *link;
        *link = waiter.next;
        waiters_.give_back(node);
        served(waiter.waiter);
    }
    if (entries_[entry].pending == 0) remove(entry);
}

}  // namespace lockstep::gpu
