// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies of an SM's CTAs that TMA is working on, and the bulk groups that wait for
// them. A copy is started at issue and performed when its last line has come.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "isa/sass/async_engine.h"
#include "isa/sass/tma/copy.h"

namespace lockstep::gpu {

class SmCopies final : public sass::AsyncEngine {
  public:
    static constexpr std::uint16_t kNone = 0xffff;

    // sass::AsyncEngine: the SM does what takes time.
    void start(const sass::AsyncCopy& copy) override { started_.push_back(copy); }
    void commit(sass::Warp&, unsigned) override {}
    void wait(sass::Warp&, unsigned, unsigned) override {}
    bool settle(sass::Cta&, std::uint32_t) override { return false; }
    void end_cta() override {}

    /// The number of what the last instruction, of the warp in `slot`, has started: one copy, or
    /// several of the same lines to different CTAs. kNone: nothing.
    std::uint16_t take_started(std::uint16_t slot) {
        if (started_.empty()) return kNone;
        std::uint16_t number;
        if (free_.empty()) {
            number = static_cast<std::uint16_t>(entries_.size());
            entries_.emplace_back();
        } else {
            number = free_.back();
            free_.pop_back();
        }
        Entry& entry = entries_[number];
        entry.copies.swap(started_);
        started_.clear();
        entry.slot = slot;
        if (entry.copies.front().writes_global()) ++open_group(slot).pending;
        entry.group = of(slot).last;
        return number;
    }
    /// The copy whose lines are asked for.
    const sass::AsyncCopy& operator[](std::uint16_t number) const {
        return entries_[number].copies.front();
    }
    /// It is done: calls perform(copy) for each target. end_groups() is to follow.
    template <typename Perform>
    void end(std::uint16_t number, Perform&& perform) {
        Entry& entry = entries_[number];
        for (const sass::AsyncCopy& copy : entry.copies) perform(copy);
        if (entry.copies.front().writes_global()) {
            Groups& groups = of(entry.slot);
            --groups.group[entry.group - groups.first].pending;
        }
        entry.copies.clear();
        free_.push_back(number);
    }

    /// UTMACMDFLUSH by the warp in `slot`, counted in `counter`. end_groups() is to follow.
    void commit_group(std::uint16_t slot, std::uint8_t counter) {
        Group& group = open_group(slot);
        group.is_closed = true;
        group.counter = counter;
    }
    /// Calls release(counter) for groups of the warp that are done, in order.
    template <typename Release>
    void end_groups(std::uint16_t slot, Release&& release) {
        Groups& groups = of(slot);
        while (!groups.group.empty() && groups.group.front().is_closed &&
               groups.group.front().pending == 0) {
            release(groups.group.front().counter);
            groups.group.pop_front();
            ++groups.first;
        }
    }

    void clear() {
        entries_.clear();
        free_.clear();
        groups_.clear();
        started_.clear();
    }

  private:
    struct Entry {
        std::vector<sass::AsyncCopy> copies;
        std::uint16_t slot = 0;
        std::uint32_t group = 0;
    };
    struct Group {
        std::uint32_t pending = 0;
        std::uint8_t counter = 0;
        bool is_closed = false;
    };
    struct Groups {
        std::deque<Group> group;
        std::uint32_t first = 0, last = 0;  ///< numbers of the front one and of the open one
    };
    Groups& of(std::uint16_t slot) {
        if (slot >= groups_.size()) groups_.resize(slot + std::size_t{1});
        return groups_[slot];
    }
    Group& open_group(std::uint16_t slot) {
        Groups& groups = of(slot);
        if (groups.group.empty() || groups.group.back().is_closed) groups.group.emplace_back();
        groups.last = groups.first + static_cast<std::uint32_t>(groups.group.size()) - 1;
        return groups.group.back();
    }

    std::vector<sass::AsyncCopy> started_;
    std::deque<Entry> entries_;  // those under way do not move
    std::vector<std::uint16_t> free_;
    std::vector<Groups> groups_;  ///< by warp slot
};

}  // namespace lockstep::gpu
