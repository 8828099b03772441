// SPDX-License-Identifier: Apache-2.0
// The DRAM behind one channel: which rows are open, and from when on each command is legal.
#pragma once

#include <algorithm>
#include <array>

#include "models/memory/dram/presets.h"

namespace lockstep::memory::dram {

enum class Direction : std::uint8_t { kRead, kWrite };

enum class CommandKind : std::uint8_t {
    kActivate,
    kPrecharge,
    kRead,
    kWrite,
    kRefreshAll,  ///< every bank of a rank
    kRefreshBank,
    kRefreshIdle,  ///< stands for `row` refreshes of an idle channel, the first at this cycle
};

/// As issued. Banks are numbered through: rank, bank group, bank.
struct Command {
    Cycle cycle;
    CommandKind kind;
    std::uint8_t bank;
    std::uint32_t row;
};

constexpr std::uint32_t kClosed = 0xffff'ffff;
constexpr std::uint32_t kMaxBanks = 64;
using BankMask = std::uint64_t;

/// Plain data: a copy is a checkpoint.
class Device {
  public:
    explicit Device(const Geometry& geometry);

    std::uint32_t open_row(std::uint32_t bank) const { return banks_[bank].row; }
    BankMask open_banks() const { return open_; }
    /// Last cycle at which the open row was activated or accessed.
    Cycle last_use(std::uint32_t bank) const { return banks_[bank].last_use; }

    Cycle earliest_activate(std::uint32_t bank) const;
    Cycle earliest_precharge(std::uint32_t bank) const { return banks_[bank].next_precharge; }
    Cycle earliest_column(std::uint32_t bank, Direction direction) const;
    /// A precharge where a row is open, else an activation.
    Cycle earliest_row_command(std::uint32_t bank) const;
    Cycle earliest_refresh_all(BankMask banks) const;
    Cycle earliest_refresh_bank(std::uint32_t bank) const;

    // What a command does from cycle `now` on. The caller keeps to the cycles above.
    void activate(std::uint32_t bank, std::uint32_t row, Cycle now);
    void precharge(std::uint32_t bank, Cycle now);
    void column(std::uint32_t bank, Direction direction, Cycle now);
    void refresh_all(BankMask banks, Cycle now);
    void refresh_bank(std::uint32_t bank, Cycle now);

    const Timing& timing() const { return timing_; }

  private:
    static constexpr std::uint32_t kMaxGroups = kMaxBanks;
    struct Bank {
        Cycle next_activate = 0, next_precharge = 0;
        Cycle last_use = 0;
        std::uint32_t row = kClosed;
    };
    struct Rank {
        Cycle next_activate = 0;         ///< RRD_S and RREFD; groups hold the whole
        Cycle window[4] = {0, 0, 0, 0};  ///< when each of the last four activations is forgotten
        std::uint32_t oldest = 0;
    };
    static constexpr int index(Direction direction) { return static_cast<int>(direction); }
    void push_activate(std::uint32_t rank, Cycle to);

    Timing timing_;
    std::uint32_t groups_per_rank_, ranks_used_;
    BankMask open_ = 0;
    std::array<Bank, kMaxBanks> banks_;
    std::array<Rank, kMaxBanks> ranks_;
    std::array<std::uint8_t, kMaxBanks> group_of_{}, rank_of_{};
    // By direction and bank, and what a group's rank and channel impose on it as well.
    std::array<std::array<Cycle, kMaxBanks>, 2> bank_column_{};
    std::array<std::array<Cycle, kMaxGroups>, 2> group_column_{};
    std::array<Cycle, kMaxGroups> group_activate_{};
};

// Asked for every waiting bank in every step: inline.

inline Cycle Device::earliest_activate(std::uint32_t bank) const {
    return std::max(banks_[bank].next_activate, group_activate_[group_of_[bank]]);
}

inline Cycle Device::earliest_row_command(std::uint32_t bank) const {
    return (open_ >> bank & 1) != 0 ? banks_[bank].next_precharge : earliest_activate(bank);
}

inline Cycle Device::earliest_column(std::uint32_t bank, Direction direction) const {
    return std::max(bank_column_[index(direction)][bank],
                    group_column_[index(direction)][group_of_[bank]]);
}

}  // namespace lockstep::memory::dram
