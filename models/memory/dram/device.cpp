// SPDX-License-Identifier: Apache-2.0
// A row is read into the bank's sense amplifiers (activate), accessed column by column, and written
// back (precharge) before another can be opened. Banks share wires and power within a group, a rank
// and a channel; each share is a distance between commands. Kept as "not before" cycles per bank,
// group and rank, pushed on by every command. Write-to-read distances hold across ranks as well
// (right for the stack ids of HBM, pessimistic for DIMM ranks).
#include "models/memory/dram/device.h"

#include <algorithm>
#include <bit>

namespace lockstep::memory::dram {
namespace {

constexpr int index(Direction direction) {
    return static_cast<int>(direction);
}

void push(Cycle& cycle, Cycle to) {
    cycle = std::max(cycle, to);
}

}  // namespace

Device::Device(const Geometry& geometry)
    : timing_(geometry.timing),
      banks_(geometry.banks()),
      groups_(geometry.ranks * geometry.organisation.bank_groups),
      ranks_(geometry.ranks) {
    for (std::uint32_t bank = 0; bank < banks_.size(); ++bank) {
        banks_[bank].group =
            static_cast<std::uint8_t>(bank / geometry.organisation.banks_per_group);
        banks_[bank].rank =
            static_cast<std::uint8_t>(bank / geometry.organisation.banks_per_rank());
    }
}

Cycle Device::earliest_activate(std::uint32_t bank) const {
    const Bank& b = banks_[bank];
    const Rank& rank = ranks_[b.rank];
    return std::max(std::max(b.next_activate, groups_[b.group].next_activate),
                    std::max(rank.next_activate, rank.window[rank.oldest]));
}

Cycle Device::earliest_column(std::uint32_t bank, Direction direction) const {
    const Bank& b = banks_[bank];
    const int d = index(direction);
    return std::max(std::max(b.next_column[d], groups_[b.group].next_column[d]),
                    ranks_[b.rank].next_column[d]);
}

Cycle Device::earliest_any_column(Direction direction) const {
    Cycle cycle = kNever;
    for (const Rank& rank : ranks_) cycle = std::min(cycle, rank.next_column[index(direction)]);
    return cycle;
}

Cycle Device::earliest_refresh_all(BankMask banks) const {
    Cycle cycle = 0;
    for (; banks != 0; banks &= banks - 1)
        cycle = std::max(cycle, banks_[std::countr_zero(banks)].next_activate);
    return cycle;
}

Cycle Device::earliest_refresh_bank(std::uint32_t bank) const {
    return std::max(banks_[bank].next_activate, ranks_[banks_[bank].rank].next_activate);
}

void Device::activate(std::uint32_t bank, std::uint32_t row, Cycle now) {
    Bank& b = banks_[bank];
    Rank& rank = ranks_[b.rank];
    b.row = row;
    b.last_use = now;
    b.next_column[index(Direction::kRead)] = now + timing_.RCD_read;
    b.next_column[index(Direction::kWrite)] = now + timing_.RCD_write;
    push(b.next_precharge, now + timing_.RAS);
    push(b.next_activate, now + timing_.RC);
    push(groups_[b.group].next_activate, now + timing_.RRD_L);
    push(rank.next_activate, now + timing_.RRD_S);
    rank.window[rank.oldest] = now + timing_.FAW;
    rank.oldest = (rank.oldest + 1) % 4;
    open_ |= BankMask{1} << bank;
}

void Device::precharge(std::uint32_t bank, Cycle now) {
    Bank& b = banks_[bank];
    b.row = kClosed;
    push(b.next_activate, now + timing_.RP);
    open_ &= ~(BankMask{1} << bank);
}

void Device::column(std::uint32_t bank, Direction direction, Cycle now) {
    Bank& b = banks_[bank];
    Group& group = groups_[b.group];
    const bool write = direction == Direction::kWrite;
    const int same = index(direction), other = 1 - same;
    const Cycle turn_S = now + (write ? timing_.write_to_read_S : timing_.read_to_write);
    const Cycle turn_L = now + (write ? timing_.write_to_read_L : timing_.read_to_write);
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
        push(ranks_[r].next_column[same], now + (r == b.rank ? timing_.CCD_S : timing_.CCD_R));
        push(ranks_[r].next_column[other], turn_S);
    }
    push(group.next_column[same], now + timing_.CCD_L);
    push(group.next_column[other], turn_L);
    push(b.next_precharge, now + (write ? timing_.write_to_precharge : timing_.RTP));
    b.last_use = now;
}

void Device::refresh_all(BankMask banks, Cycle now) {
    for (; banks != 0; banks &= banks - 1)
        push(banks_[std::countr_zero(banks)].next_activate, now + timing_.RFC);
}

void Device::refresh_bank(std::uint32_t bank, Cycle now) {
    push(banks_[bank].next_activate, now + timing_.RFC_bank);
    push(ranks_[banks_[bank].rank].next_activate, now + timing_.RREFD);
}

}  // namespace lockstep::memory::dram
