// SPDX-License-Identifier: Apache-2.0
// Simulated time: whole picoseconds, and the cycles of clocks whose periods are whole picoseconds.
// Cycle c of a clock begins at exactly c periods, so cycles and times convert without drift.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/error/error.h"

namespace lockstep::engine {

using Time = std::uint64_t;   ///< picoseconds since the simulation began
using Cycle = std::uint64_t;  ///< cycles of one clock since the simulation began

/// "At no cycle", "at no time": what a Tile without work answers.
inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

class ClockDomain {
  public:
    explicit ClockDomain(Time period_ps) : period_(period_ps) {
        LOCKSTEP_CHECK(period_ps > 0, "a clock needs a period of at least 1 ps");
    }

    /// The clock with the nearest whole period; 1 GHz is 0.05% coarse at worst.
    static ClockDomain from_megahertz(double megahertz) {
        LOCKSTEP_CHECK(megahertz > 0 && megahertz <= 1e6, "no clock of {} MHz", megahertz);
        return ClockDomain(static_cast<Time>(std::llround(1e6 / megahertz)));
    }

    Time period() const { return period_; }

    /// The time at which a cycle begins; kNever stays kNever.
    Time start_of(Cycle cycle) const { return cycle == kNever ? kNever : cycle * period_; }

    /// The cycle in progress at a time.
    Cycle cycle_at(Time time) const { return time / period_; }

    /// The first cycle that begins at a time or after it; kNever stays kNever.
    Cycle first_cycle_from(Time time) const {
        return time == kNever ? kNever : time / period_ + (time % period_ != 0);
    }

    bool operator==(const ClockDomain&) const = default;

  private:
    Time period_;
};

}  // namespace lockstep::engine
