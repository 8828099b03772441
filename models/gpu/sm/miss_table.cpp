// SPDX-License-Identifier: Apache-2.0
// Miss status holding registers of the L1: one entry a line, with the sectors that are on their way
// and a list of waiting instructions; later misses to the line merge. Lines are allocated in the
// cache when their data come, as Accel-Sim found for Volta's streaming L1 (Khairy et al., 2020).
#include "models/gpu/sm/miss_table.h"

namespace lockstep::gpu {

MissTable::MissTable(std::uint32_t entries) : entries_(entries), table_(entries) {
    free_.reserve(entries);
    for (std::uint32_t i = entries; i-- != 0;) free_.push_back(i);
}

std::uint32_t MissTable::add(std::uint64_t line, EvictionPriority priority) {
    const std::uint32_t entry = free_.back();
    free_.pop_back();
    entries_[entry] = {.line = line, .priority = priority};
    table_.insert(line, entry);
    return entry;
}

void MissTable::wait(std::uint32_t entry, std::uint8_t sectors, std::uint32_t waiter) {
    // In the order of coming: the earliest is served first.
    const std::uint32_t node = waiters_.take({waiter, kNone, sectors});
    std::uint32_t* link = &entries_[entry].waiters;
    while (*link != kNone) link = &waiters_[*link].next;
    *link = node;
}

void MissTable::forbid_fills() {
    if (is_empty()) return;
    for (Entry& entry : entries_) entry.may_fill = false;
}

void MissTable::remove(std::uint32_t entry) {
    table_.erase(entries_[entry].line, entry);
    free_.push_back(entry);
}

}  // namespace lockstep::gpu
