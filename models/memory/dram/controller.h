// SPDX-License-Identifier: Apache-2.0
// The controller of one channel.
#pragma once

#include <span>
#include <vector>

#include "models/memory/dram/refresh.h"
#include "models/memory/dram/row_policy.h"
#include "models/memory/dram/scheduler.h"
#include "models/memory/dram/statistics.h"

namespace lockstep::memory::dram {

/// Where a request goes within its channel.
struct Location {
    std::uint32_t bank = 0;  ///< numbered through: rank, bank group, bank
    std::uint32_t row = 0;
    std::uint32_t column = 0;  ///< in bursts
    bool operator==(const Location&) const = default;
};

struct Completion {
    std::uint64_t id;
    Cycle cycle;  ///< the first at which all of its data has crossed the pins
};

struct ControllerParameters {
    const Scheduler* scheduler = &fr_fcfs();
    const RowPolicy* row_policy = &open_rows();
    Cycle row_timeout = 0;  ///< clocks, where the policy has one
    RefreshPolicy refresh = RefreshPolicy::kPerBank;
    double refresh_phase = 0;  ///< 0 to 1: refreshes come that share of REFI earlier
    std::uint32_t read_queue = 64, write_queue = 64;  ///< requests
    /// Writes are gathered and drained together, since turning the bus costs time: from `high`
    /// waiting writes (or when nothing is left to read) to `low`, at least `burst` at a time.
    std::uint32_t write_high = 48, write_low = 16, write_burst = 16;
    std::uint32_t starvation_cap = 64;  ///< row hits that may overtake an older request of a bank
};

/// Serves requests of one burst each. Time is the channel's command clock. Nothing polls: between
/// calls, next_event() says when there is something to do. Requests to the same address are not
/// kept in order (values live elsewhere). A copy is a checkpoint.
class Controller {
  public:
    Controller(const Geometry& geometry, const ControllerParameters& parameters);

    /// Takes a request that arrives at `now` (or at the cycle reached by advance, if later); it can
    /// be served from that cycle on. False where its queue is full: offer it again after
    /// next_event(). Calls must not go back in time.
    bool enqueue(Direction direction, const Location& location, std::uint64_t id, Cycle now);

    /// Does all that happens before cycle `until`.
    void advance(Cycle until);

    /// The earliest cycle at which something may happen; kNever when no request waits. Refreshes
    /// of an idle channel are made up for at the next call.
    Cycle next_event() const { return reads_.empty() && writes_.empty() ? kNever : wake(); }

    /// Served requests in the order of their column commands, known as soon as that has been
    /// issued: their cycles may lie ahead.
    std::span<const Completion> completions() const { return completions_; }
    void clear_completions() { completions_.clear(); }

    const Statistics& statistics() const { return statistics_; }
    std::uint32_t waiting() const { return reads_.size() + writes_.size(); }
    /// Records every command from now on (tests, traces, energy); null: none.
    void record(std::vector<Command>* trace) { trace_ = trace; }

  private:
    RequestQueue& queue() { return direction_ == Direction::kRead ? reads_ : writes_; }
    Cycle wake() const;
    void step(Cycle now);
    bool may_turn() const;
    bool turns_soon() const;
    void turn_if_due(Cycle now);
    bool issue_column(Cycle now);
    void issue_row(Cycle now);
    bool issue_refresh(Cycle now);
    bool close_unwanted(Cycle now);
    bool issue_row_for(RequestQueue& waiting, BankMask excluded, Cycle now);
    void activate(RequestQueue& waiting, std::uint32_t bank, Cycle now);
    void precharge(std::uint32_t bank, Cycle now);
    void skip_idle_refreshes(Cycle until);
    void trace(Cycle now, CommandKind kind, std::uint32_t bank, std::uint32_t row = 0);

    ControllerParameters parameters_;
    std::uint32_t burst_bytes_, activate_clocks_;
    bool separate_row_bus_, in_order_, closes_rows_;
    Device device_;
    RequestQueue reads_, writes_;
    std::vector<RowHistory> rows_;  ///< by bank; none where the policy closes nothing
    Refresh refresh_;
    Cycle refresh_due_;
    BankMask blocked_ = 0;     ///< banks that await their refresh
    BankMask refreshing_ = 0;  ///< by the latest refresh, until refresh_ends_
    Cycle refresh_ends_ = kNever;
    Direction direction_ = Direction::kRead;
    Direction last_transfer_ = Direction::kRead;
    std::uint32_t burst_left_ = 0;  ///< writes to serve before reads get the bus back
    Cycle reached_ = 0;             ///< everything before has happened
    Cycle column_wake_ = kNever, row_wake_ = kNever;  ///< not before these can a command go out
    Cycle row_bus_free_ = 0;
    std::uint64_t arrivals_ = 0;
    Statistics statistics_;
    std::vector<Completion> completions_;
    std::vector<Command>* trace_ = nullptr;
};

}  // namespace lockstep::memory::dram
