// SPDX-License-Identifier: Apache-2.0
// A memory controller turns requests into activate, column, precharge and refresh commands and puts
// at most one a clock on the command bus (HBM: one row and one column command). Here it acts only
// in cycles in which some command may become legal; what it does is what a controller that looks at
// every cycle would do. Simplified: refreshes are issued as soon as they are due, the two
// pseudo-channels of an HBM channel do not compete for command slots, no power-down states.
#include "models/memory/dram/controller.h"

#include <algorithm>
#include <bit>

#include "sim/error/error.h"

namespace lockstep::memory::dram {

Controller::Controller(const Geometry& geometry, const ControllerParameters& parameters)
    : parameters_(parameters),
      burst_bytes_(geometry.organisation.burst_bytes()),
      activate_clocks_(geometry.organisation.activate_clocks),
      separate_row_bus_(geometry.organisation.separate_row_bus),
      in_order_(parameters.scheduler->in_order()),
      closes_rows_(parameters.row_policy->closes()),
      device_(geometry),
      reads_(parameters.read_queue, parameters.starvation_cap),
      writes_(parameters.write_queue, parameters.starvation_cap),
      rows_(closes_rows_ ? geometry.banks() : 0,
            {parameters.row_timeout, parameters.row_timeout, kClosed}),
      refresh_(parameters.refresh, geometry, parameters.refresh_phase),
      refresh_due_(refresh_.due()) {
    LOCKSTEP_CHECK(parameters.write_low < parameters.write_high &&
                       parameters.write_high <= parameters.write_queue,
                   "write watermarks {} and {} of {} entries", parameters.write_low,
                   parameters.write_high, parameters.write_queue);
}

bool Controller::enqueue(Direction direction, const Location& location, std::uint64_t id,
                         Cycle now) {
    if (now > reached_) advance(now);
    RequestQueue& queue = direction == Direction::kRead ? reads_ : writes_;
    if (queue.full()) return false;
    const std::uint32_t open_row = device_.open_row(location.bank);
    queue.push(location.bank, location.row, open_row, id, arrivals_++, reached_);
    if (direction != direction_) {
        if (may_turn()) column_wake_ = reached_;
        if (turns_soon()) row_wake_ = std::min(row_wake_, reached_);
    } else if (open_row == location.row) {
        column_wake_ = std::min(
            column_wake_, std::max(reached_, device_.earliest_column(location.bank, direction)));
    } else {
        row_wake_ = std::min(row_wake_, reached_);
    }
    return true;
}

Cycle Controller::wake() const {
    const Cycle work = std::min({column_wake_, std::max(row_wake_, row_bus_free_), refresh_ends_});
    return std::max(reached_, blocked_ == 0 ? std::min(work, refresh_due_) : work);
}

void Controller::advance(Cycle until) {
    while (true) {
        if (reads_.empty() && writes_.empty() && device_.open_banks() == 0)
            skip_idle_refreshes(until);
        const Cycle now = wake();
        if (now >= until) break;
        step(now);
        reached_ = now + 1;
    }
    reached_ = std::max(reached_, until);
}

void Controller::step(Cycle now) {
    if (now >= refresh_ends_) {
        refreshing_ = 0;
        refresh_ends_ = kNever;
    }
    if (now >= refresh_due_ && blocked_ == 0) {
        blocked_ = refresh_.banks();
        row_wake_ = now;
    }
    turn_if_due(now);
    const bool column = now >= column_wake_ && issue_column(now);
    if (now < row_wake_ || now < row_bus_free_) return;
    if (column && !separate_row_bus_)
        row_wake_ = now + 1;
    else
        issue_row(now);
}

bool Controller::may_turn() const {
    // Who waits for a refresh only does not hold the bus.
    const BankMask away = blocked_ | refreshing_;
    const bool can_read = (reads_.pending() & ~away) != 0;
    const bool can_write = (writes_.pending() & ~away) != 0;
    if (direction_ == Direction::kRead)
        return can_write && (writes_.size() >= parameters_.write_high || !can_read);
    return can_read &&
           (!can_write || (burst_left_ == 0 && writes_.size() <= parameters_.write_low));
}

/// The bus will soon turn: rows for the other direction may be opened.
bool Controller::turns_soon() const {
    if (direction_ == Direction::kRead)
        return writes_.size() + parameters_.write_burst >= parameters_.write_high;
    return writes_.size() <= parameters_.write_low + parameters_.write_burst;
}

void Controller::turn_if_due(Cycle now) {
    if (!may_turn()) return;
    direction_ = direction_ == Direction::kRead ? Direction::kWrite : Direction::kRead;
    burst_left_ = parameters_.write_burst;
    column_wake_ = row_wake_ = now;
}

bool Controller::issue_column(Cycle now) {
    RequestQueue& waiting = queue();
    const Choice choice =
        parameters_.scheduler->column(waiting, device_, direction_, blocked_, now);
    if (choice.bank < 0) {
        column_wake_ = choice.wake;
        return false;
    }
    const std::uint32_t bank = static_cast<std::uint32_t>(choice.bank);
    const Slot slot = waiting.pop_hit(bank);
    device_.column(bank, direction_, now);

    const Timing& timing = device_.timing();
    const bool write = direction_ == Direction::kWrite;
    completions_.push_back({slot.id, now + (write ? timing.CWL : timing.CL) + timing.burst});
    if (write) {
        ++statistics_.writes;
        statistics_.bytes_written += burst_bytes_;
        if (burst_left_ > 0) --burst_left_;
    } else {
        ++statistics_.reads;
        statistics_.bytes_read += burst_bytes_;
    }
    ++(slot.outcome == RowOutcome::kHit    ? statistics_.row_hits
       : slot.outcome == RowOutcome::kMiss ? statistics_.row_misses
                                           : statistics_.row_conflicts);
    if (direction_ != last_transfer_) ++statistics_.turnarounds;
    last_transfer_ = direction_;
    statistics_.bus_busy_cycles += timing.burst;
    statistics_.queue_cycles += now - slot.arrival;
    statistics_.queue_latency.add(now - slot.arrival);
    trace(now, write ? CommandKind::kWrite : CommandKind::kRead, bank, slot.row);

    column_wake_ = waiting.hits() == 0 ? kNever : now + device_.timing().CCD_S;
    if (in_order_ || (waiting.hits() >> bank & 1) == 0) row_wake_ = std::min(row_wake_, now);
    turn_if_due(now + 1);
    return true;
}

void Controller::issue_row(Cycle now) {
    row_wake_ = kNever;
    if (issue_refresh(now)) return;
    if (issue_row_for(queue(), blocked_, now)) return;
    // Banks that the bus's direction does not need are made ready for the other one.
    RequestQueue& other = direction_ == Direction::kRead ? writes_ : reads_;
    if (!in_order_ && !other.empty() && turns_soon() &&
        issue_row_for(other, blocked_ | queue().pending(), now))
        return;
    if (closes_rows_) close_unwanted(now);
}

/// Opens or closes a row for a request of the queue; true where a command went out.
bool Controller::issue_row_for(RequestQueue& waiting, BankMask excluded, Cycle now) {
    const Choice choice = parameters_.scheduler->row(waiting, device_, excluded, now);
    if (choice.bank < 0) {
        row_wake_ = std::min(row_wake_, choice.wake);
        return false;
    }
    const std::uint32_t bank = static_cast<std::uint32_t>(choice.bank);
    if (device_.open_row(bank) == kClosed) {
        activate(waiting, bank, now);
    } else {
        waiting.note_oldest(bank, RowOutcome::kConflict);
        if (closes_rows_) parameters_.row_policy->conflicted(rows_[bank]);
        precharge(bank, now);
    }
    return true;
}

/// Closes the banks that await their refresh, then refreshes them. True where a command went out.
bool Controller::issue_refresh(Cycle now) {
    if (blocked_ == 0) return false;
    Cycle wake = kNever;
    for (BankMask open = blocked_ & device_.open_banks(); open != 0; open &= open - 1) {
        const std::uint32_t bank = static_cast<std::uint32_t>(std::countr_zero(open));
        const Cycle earliest = device_.earliest_precharge(bank);
        if (earliest <= now) {
            precharge(bank, now);
            return true;
        }
        wake = std::min(wake, earliest);
    }
    const bool all = refresh_.policy() == RefreshPolicy::kAllBank;
    const std::uint32_t bank = static_cast<std::uint32_t>(std::countr_zero(blocked_));
    if (wake == kNever)
        wake = all ? device_.earliest_refresh_all(blocked_) : device_.earliest_refresh_bank(bank);
    if (wake > now) {
        row_wake_ = wake;
        return false;
    }
    if (all) {
        device_.refresh_all(blocked_, now);
        ++statistics_.refreshes_all;
    } else {
        device_.refresh_bank(bank, now);
        ++statistics_.refreshes_bank;
    }
    trace(now, all ? CommandKind::kRefreshAll : CommandKind::kRefreshBank, bank);
    refreshing_ = all ? blocked_ : BankMask{1} << bank;
    refresh_ends_ = now + (all ? device_.timing().RFC : device_.timing().RFC_bank);
    refresh_.done();
    refresh_due_ = refresh_.due();
    blocked_ = 0;
    row_bus_free_ = row_wake_ = now + 1;
    column_wake_ = std::min(column_wake_, now + 1);
    return true;
}

bool Controller::close_unwanted(Cycle now) {
    for (BankMask open = device_.open_banks() & ~blocked_ & ~reads_.hits() & ~writes_.hits();
         open != 0; open &= open - 1) {
        const std::uint32_t bank = static_cast<std::uint32_t>(std::countr_zero(open));
        const Cycle earliest =
            std::max(device_.earliest_precharge(bank),
                     device_.last_use(bank) + parameters_.row_policy->close_after(rows_[bank]));
        if (earliest <= now) {
            rows_[bank].closed_row = device_.open_row(bank);
            precharge(bank, now);
            return true;
        }
        row_wake_ = std::min(row_wake_, earliest);
    }
    return false;
}

void Controller::activate(RequestQueue& waiting, std::uint32_t bank, Cycle now) {
    waiting.note_oldest(bank, RowOutcome::kMiss);
    const std::uint32_t row = waiting.oldest(bank).row;
    if (closes_rows_) {
        parameters_.row_policy->opened(rows_[bank], row);
        rows_[bank].closed_row = kClosed;
    }
    device_.activate(bank, row, now);
    reads_.row_opened(bank, row);
    writes_.row_opened(bank, row);
    ++statistics_.activations;
    trace(now, CommandKind::kActivate, bank, row);
    row_bus_free_ = row_wake_ = now + activate_clocks_;
    column_wake_ = std::min(column_wake_, device_.earliest_column(bank, direction_));
}

void Controller::precharge(std::uint32_t bank, Cycle now) {
    device_.precharge(bank, now);
    reads_.row_closed(bank);
    writes_.row_closed(bank);
    ++statistics_.precharges;
    trace(now, CommandKind::kPrecharge, bank);
    row_bus_free_ = row_wake_ = now + 1;
}

/// Whole rounds of refreshes that an idle channel owes need no look at each: nothing else happens.
void Controller::skip_idle_refreshes(Cycle until) {
    const std::uint64_t rounds = refresh_.owed(until) / refresh_.units();
    if (rounds < 2 || blocked_ != 0 || refresh_due_ < reached_) return;
    const std::uint64_t count = (rounds - 1) * refresh_.units();
    trace(refresh_due_, CommandKind::kRefreshIdle, 0, static_cast<std::uint32_t>(count));
    (refresh_.policy() == RefreshPolicy::kAllBank ? statistics_.refreshes_all
                                                  : statistics_.refreshes_bank) += count;
    refresh_.done(count);
    refresh_due_ = refresh_.due();
}

void Controller::trace(Cycle now, CommandKind kind, std::uint32_t bank, std::uint32_t row) {
    if (trace_ != nullptr) trace_->push_back({now, kind, static_cast<std::uint8_t>(bank), row});
}

}  // namespace lockstep::memory::dram
