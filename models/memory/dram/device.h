// SPDX-License-Identifier: Apache-2.0
// The DRAM behind one channel: which rows are open, and from when on each command is legal.
#pragma once

#include <array>
#include <vector>

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
    /// A lower bound of earliest_column over all banks.
    Cycle earliest_any_column(Direction direction) const;
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
    struct Bank {
        Cycle next_activate = 0, next_precharge = 0, next_column[2] = {0, 0};
        Cycle last_use = 0;
        std::uint32_t row = kClosed;
        std::uint8_t group = 0, rank = 0;
    };
    struct Group {
        Cycle next_activate = 0, next_column[2] = {0, 0};
    };
    struct Rank {
        Cycle next_activate = 0, next_column[2] = {0, 0};
        Cycle window[4] = {0, 0, 0, 0};  ///< when each of the last four activations is forgotten
        std::uint32_t oldest = 0;
    };

    Timing timing_;
    BankMask open_ = 0;
    std::vector<Bank> banks_;
    std::vector<Group> groups_;
    std::vector<Rank> ranks_;
};

}  // namespace lockstep::memory::dram
