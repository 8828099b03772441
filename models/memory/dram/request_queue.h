// SPDX-License-Identifier: Apache-2.0
// The waiting requests of one direction, in order of arrival by bank, so that a scheduler looks at
// banks, not at every request.
#pragma once

#include <array>
#include <vector>

#include "models/memory/dram/device.h"

namespace lockstep::memory::dram {

constexpr std::uint16_t kNoSlot = 0xffff;

/// What a request found at its bank.
enum class RowOutcome : std::uint8_t { kHit, kMiss, kConflict };

struct Slot {
    std::uint64_t id;
    std::uint64_t order;  ///< of arrival, over both directions
    Cycle arrival;
    std::uint32_t row;
    std::uint8_t bank;
    RowOutcome outcome;
    std::uint16_t previous, next;  ///< in the bank's list
};

class RequestQueue {
  public:
    /// cap: requests to an open row that may overtake an older one of the bank.
    RequestQueue(std::uint32_t capacity, std::uint32_t cap);

    bool full() const { return free_ == kNoSlot; }
    std::uint32_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    /// Banks with requests, and those of them whose open row one of them asks for.
    BankMask pending() const { return pending_; }
    BankMask hits() const { return hits_; }
    const Slot& oldest(std::uint32_t bank) const { return slots_[lists_[bank].head]; }
    /// Orders by arrival and holds the bank: the oldest request of the bank, and its oldest hit.
    std::uint64_t oldest_key(std::uint32_t bank) const { return key(oldest(bank)); }
    std::uint64_t oldest_hit_key(std::uint32_t bank) const { return hit_key_[bank]; }
    static int bank_of(std::uint64_t key) { return static_cast<int>(key % kMaxBanks); }

    void push(std::uint32_t bank, std::uint32_t row, std::uint32_t open_row, std::uint64_t id,
              std::uint64_t order, Cycle arrival);
    /// Takes the bank's oldest hit out.
    Slot pop_hit(std::uint32_t bank);
    void row_opened(std::uint32_t bank, std::uint32_t row);
    void row_closed(std::uint32_t bank);
    /// Notes what the bank's oldest request has met so far; the worst counts.
    void note_oldest(std::uint32_t bank, RowOutcome outcome);

  private:
    struct List {
        std::uint16_t head = kNoSlot, tail = kNoSlot, hit = kNoSlot;
        std::uint32_t overtaken = 0;  ///< hits served while the head waited for another row
    };

    static std::uint64_t key(const Slot& slot) { return slot.order * kMaxBanks + slot.bank; }
    void set_hit(std::uint32_t bank, std::uint16_t slot);

    std::vector<Slot> slots_;
    std::array<List, kMaxBanks> lists_;
    std::array<std::uint64_t, kMaxBanks> hit_key_{};
    BankMask pending_ = 0, hits_ = 0;
    std::uint32_t size_ = 0, cap_;
    std::uint16_t free_ = 0;
};

}  // namespace lockstep::memory::dram
