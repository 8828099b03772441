// SPDX-License-Identifier: Apache-2.0
// A Tile: a piece of a chip (an SM, a memory partition, a TPU core, a link) that runs alone through
// a window of its own cycles and meets other Tiles only through Channels.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "sim/engine/time.h"

namespace lockstep::engine {

class ChannelBase;
class Simulation;
class SystemcShell;

/// Each Tile is also an sc_module with one process; the Simulation makes it, so that models need
/// not include SystemC. A dot in the name is hierarchy: "gpc0.sm3" is sm3 inside gpc0.
/// A Tile must live as long as its Simulation runs.
class Tile {
  public:
    Tile(Simulation& simulation, std::string name, ClockDomain clock);
    virtual ~Tile() = default;
    Tile(const Tile&) = delete;
    Tile& operator=(const Tile&) = delete;

    const std::string& name() const { return name_; }
    const ClockDomain& clock() const { return clock_; }
    Simulation& simulation() const { return simulation_; }

    /// Runs the cycles [from, until). Returns the next cycle (>= until) with work, or kNever: then
    /// the Tile sleeps until a message becomes readable, or a credit it lacked comes back. It may
    /// also be called without need; that must change nothing. May run on any thread, at the same
    /// time as other Tiles: it touches nothing that another Tile touches, its Channels excepted.
    virtual Cycle advance(Cycle from, Cycle until) = 0;

    /// After all Tiles of a window have run, in the order in which the Tiles were made, for those
    /// that ran: commit what becomes visible to others (memory writes). One thread.
    virtual void at_window_end() {}

    /// True where nothing is left to do unless a message comes. A run ends when all Tiles say so
    /// and no message is on its way; wakes that are left (a refresh timer) wait for the next run.
    virtual bool finished() const = 0;

    /// What an unfinished Tile waits for, for the report of a deadlock.
    virtual std::string explain_wait() const { return "does not say what it waits for"; }

    /// True for a Tile that calls into SystemC: it stays on the thread of SystemC's kernel.
    virtual bool runs_on_kernel_thread() const { return false; }

    /// Gives the Tile work at a cycle, or in the next window where that is past. Not from within
    /// advance(): from outside a run, or from at_window_end(). Whoever changes finished() of a Tile
    /// from outside wakes it.
    void wake(Cycle cycle);

  protected:
    /// Says that the simulated program came forward (an instruction retired): feeds the watchdog.
    void report_progress() { progressed_ = true; }

  private:
    friend class Simulation;
    friend class ChannelBase;
    friend class SystemcShell;

    Simulation& simulation_;
    const std::string name_;
    const ClockDomain clock_;
    std::uint32_t index_ = 0;   // in the order of making
    std::uint32_t domain_ = 0;  // the Simulation's entry for this clock

    // What one activation leaves for the window's end.
    Cycle next_ = kNever;
    bool progressed_ = false;
    bool finished_ = false;
    std::exception_ptr failure_;
    std::vector<ChannelBase*> touched_;  // Channels this Tile sent into or took from
};

}  // namespace lockstep::engine
