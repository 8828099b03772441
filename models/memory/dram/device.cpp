// SPDX-License-Identifier: Apache-2.0
// A row is read into the bank's sense amplifiers (activate), accessed column by column, and written
// back (precharge) before another can be opened. Banks share wires and power within a group, a rank
// and a channel; each share is a distance between commands. Kept as "not before" cycles per bank,
// group and rank, pushed on by every command. Write-to-read distances hold across ranks as well
// (right for the stack ids of HBM, pessimistic for DIMM ranks).
#include "models/memory/dram/device.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/error/error.h"

namespace lockstep::memory::dram {
namespace {

constexpr int index(Direction direction) {
    return static_cast<int>(direction);
}

void push(Cycle& cycle, Cycle to) {
    cycle = std::max(cycle, to);
}

/// Several in one vector of the host's: ranks nearly always have a multiple of four groups.
void push(Cycle* cycles, std::uint32_t count, Cycle to) {
    using Four [[gnu::vector_size(4 * sizeof(Cycle))]] = Cycle;
    const Four least = Four{} + to;
    std::uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        Four four;
        std::memcpy(&four, cycles + i, sizeof four);
        four = four > least ? four : least;
        std::memcpy(cycles + i, &four, sizeof four);
    }
    for (; i < count; ++i) push(cycles[i], to);
}

}  // namespace

Device::Device(const Geometry& geometry)
    : timing_(geometry.timing),
      groups_per_rank_(geometry.organisation.bank_groups),
      ranks_used_(geometry.ranks) {
    LOCKSTEP_CHECK(geometry.banks() <= kMaxBanks, "{} banks", geometry.banks());
    for (std::uint32_t bank = 0; bank < geometry.banks(); ++bank) {
        group_of_[bank] = static_cast<std::uint8_t>(bank / geometry.organisation.banks_per_group);
        rank_of_[bank] = static_cast<std::uint8_t>(bank / geometry.organisation.banks_per_rank());
    }
}

Cycle Device::earliest_refresh_all(BankMask banks) const {
    Cycle cycle = 0;
    for (; banks != 0; banks &= banks - 1)
        cycle = std::max(cycle, banks_[std::countr_zero(banks)].next_activate);
    return cycle;
}

Cycle Device::earliest_refresh_bank(std::uint32_t bank) const {
    return std::max(banks_[bank].next_activate, ranks_[rank_of_[bank]].next_activate);
}

void Device::push_activate(std::uint32_t rank, Cycle to) {
    push(&group_activate_[rank * groups_per_rank_], groups_per_rank_, to);
}

void Device::activate(std::uint32_t bank, std::uint32_t row, Cycle now) {
    Bank& b = banks_[bank];
    Rank& rank = ranks_[rank_of_[bank]];
    b.row = row;
    b.last_use = now;
    bank_column_[index(Direction::kRead)][bank] = now + timing_.RCD_read;
    bank_column_[index(Direction::kWrite)][bank] = now + timing_.RCD_write;
    push(b.next_precharge, now + timing_.RAS);
    push(b.next_activate, now + timing_.RC);
    push(rank.next_activate, now + timing_.RRD_S);
    rank.window[rank.oldest] = now + timing_.FAW;
    rank.oldest = (rank.oldest + 1) % 4;
    push_activate(rank_of_[bank], std::max(now + timing_.RRD_S, rank.window[rank.oldest]));
    push(group_activate_[group_of_[bank]], now + timing_.RRD_L);
    open_ |= BankMask{1} << bank;
}

void Device::precharge(std::uint32_t bank, Cycle now) {
    Bank& b = banks_[bank];
    b.row = kClosed;
    push(b.next_activate, now + timing_.RP);
    open_ &= ~(BankMask{1} << bank);
}

void Device::column(std::uint32_t bank, Direction direction, Cycle now) {
    const bool write = direction == Direction::kWrite;
    std::array<Cycle, kMaxGroups>& same = group_column_[index(direction)];
    std::array<Cycle, kMaxGroups>& other = group_column_[1 - index(direction)];
    const Cycle turn_S = now + (write ? timing_.write_to_read_S : timing_.read_to_write);
    const Cycle turn_L = now + (write ? timing_.write_to_read_L : timing_.read_to_write);
    for (std::uint32_t rank = 0; rank < ranks_used_; ++rank) {
        const Cycle next = now + (rank == rank_of_[bank] ? timing_.CCD_S : timing_.CCD_R);
        push(&same[rank * groups_per_rank_], groups_per_rank_, next);
    }
    push(other.data(), ranks_used_ * groups_per_rank_, turn_S);
    push(same[group_of_[bank]], now + timing_.CCD_L);
    push(other[group_of_[bank]], turn_L);
    Bank& b = banks_[bank];
    push(b.next_precharge, now + (write ? timing_.write_to_precharge : timing_.RTP));
    b.last_use = now;
}

void Device::refresh_all(BankMask banks, Cycle now) {
    for (; banks != 0; banks &= banks - 1)
        push(banks_[std::countr_zero(banks)].next_activate, now + timing_.RFC);
}

void Device::refresh_bank(std::uint32_t bank, Cycle now) {
    push(banks_[bank].next_activate, now + timing_.RFC_bank);
    push(ranks_[rank_of_[bank]].next_activate, now + timing_.RREFD);
    push_activate(rank_of_[bank], now + timing_.RREFD);
}

}  // namespace lockstep::memory::dram
