// SPDX-License-Identifier: Apache-2.0
// The time kernel: runs Tiles window by window, where a window is so short that no Tile can affect
// another within it. Results are the same for any number of threads and any order of the Tiles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/channel.h"
#include "sim/engine/tile.h"
#include "sim/engine/time.h"
#include "sim/engine/wake_wheel.h"
#include "sim/engine/worker_pool.h"

namespace lockstep::engine {

class SystemcShell;

/// Who calls a Tile that has work.
enum class Activation {
    kDriver,   ///< one process of the Simulation's calls all Tiles of a window
    kProcess,  ///< the Tile's own process, started by its event; one thread only
};

struct SimulationOptions {
    std::string name = "chip";  ///< the sc_module around all Tiles
    unsigned threads = 1;       ///< host threads that run Tiles
    Activation activation = Activation::kDriver;
    bool names_channels = false;           ///< make sc_objects of the Channels and their ends
    std::optional<std::uint64_t> shuffle;  ///< seed: run the Tiles of a window in random order
    Time max_window = kNever;              ///< make windows shorter than the Channels allow
    Time livelock_after = kNever;          ///< busy time without progress that is an error
};

struct SimulationStatistics {
    std::uint64_t windows = 0;      ///< that had a Tile to run
    std::uint64_t activations = 0;  ///< calls of advance()
    std::uint64_t messages = 0;     ///< sent through all Channels
};

enum class StopReason { kFinished, kTimeLimit };

/// No Tile has work and not all are finished.
class Deadlock : public ProgramFault {
  public:
    explicit Deadlock(const std::string& message) : ProgramFault(message) {}
};

/// Tiles are busy, but none reported progress for the time that SimulationOptions allows.
class Livelock : public ProgramFault {
  public:
    explicit Livelock(const std::string& message) : ProgramFault(message) {}
};

/// A signal of SystemC's that shows something of a Tile over time.
enum class SignalId : std::uint32_t {};

/// One at a time in a process. Make the Simulation, its Tiles, connect them, run.
class Simulation {
  public:
    explicit Simulation(SimulationOptions options = {});
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Makes the Channel between two ends, before the first run. Each end has one Channel.
    template <typename T>
    void connect(Sender<T>& sender, Receiver<T>& receiver, const ChannelParameters& parameters) {
        std::string name = sender.tile_.name() + "." + sender.role_ + " -> " +
                           receiver.tile_.name() + "." + receiver.role_;
        LOCKSTEP_CHECK(!sender.connected() && !receiver.connected(), "{}: connected twice", name);
        auto channel =
            std::make_unique<Channel<T>>(sender.tile_, receiver.tile_, std::move(name), parameters);
        sender.channel_ = receiver.channel_ = channel.get();
        add_channel(std::move(channel), sender.role_, receiver.role_);
    }

    /// Called after each window, with the time at which it ends, in the order of registration and
    /// after all Tiles' at_window_end(). One thread.
    void at_window_end(std::function<void(Time end)> hook) { hooks_.push_back(std::move(hook)); }

    /// Runs until all Tiles are finished and no message is on its way, or until the windows that
    /// begin before `limit` are done. May be called again: after wake(), or with a later limit.
    /// The first run gives every Tile work at cycle 0. Throws Deadlock, Livelock, or what a Tile
    /// threw (of several in one window, that of the Tile made first); no run may follow then.
    StopReason run(Time limit = kNever);

    /// Ends the run after the window whose end this is: from hooks.
    void stop() { limit_ = 0; }

    /// The time from which Tiles may still be woken: the end of the last window.
    Time now() const { return wheel_.current() * window_; }

    /// The window's length, known from the first run on.
    Time window() const { return window_; }

    const SimulationStatistics& statistics() const { return statistics_; }

    /// Makes an sc_signal<sc_dt::uint64> below the top module, before the first run:
    /// "sm0.sub_core1.warp" is a child of the Tile sm0. For sc_trace and processes of others.
    SignalId add_signal(const std::string& path);
    /// The signal's value from a time on. From hooks, for times of the window that has ended or
    /// later: SystemC's time passes through them before the Tiles of the next window run.
    void set_signal(SignalId signal, Time at, std::uint64_t value);

    /// Runs `build` inside the Tile's sc_module, so that modules and sockets that it makes become
    /// the Tile's children.
    void build_inside(const Tile& tile, const std::function<void()>& build);

  private:
    friend class Tile;
    friend class SystemcShell;

    struct Domain {
        ClockDomain clock;
        Cycle from = 0;  // the current window in its cycles
        Cycle until = 0;
    };

    void add_tile(Tile& tile);
    void add_channel(std::unique_ptr<ChannelBase> channel, const std::string& sender_role,
                     const std::string& receiver_role);
    void prepare();

    // A window, as the shell drives it.
    std::span<const std::uint32_t> begin_window();
    void run_tiles();
    void activate(std::uint32_t index);
    Time end_window();

    void schedule(Tile& tile, Cycle cycle, const char* cause);
    void commit(ChannelBase& channel);
    void commit_touched(Tile& tile);
    void note_finished(Tile& tile);
    bool all_finished() const { return unfinished_ == 0 && in_flight_ == 0; }
    std::string waiting() const;

    const SimulationOptions options_;
    std::unique_ptr<SystemcShell> shell_;
    std::unique_ptr<WorkerPool> pool_;
    std::vector<Tile*> tiles_;
    std::vector<std::unique_ptr<ChannelBase>> channels_;
    std::vector<Domain> domains_;
    std::vector<std::function<void(Time)>> hooks_;
    std::mt19937_64 shuffle_;

    bool prepared_ = false;
    bool failed_ = false;
    Time window_ = 0;
    Time limit_ = 0;
    WakeWheel wheel_;
    std::vector<std::uint32_t> active_;  // in the order of making
    std::vector<std::uint32_t> order_;   // in the order of running
    std::vector<std::uint32_t> here_;    // those of them that stay on this thread
    std::uint64_t unfinished_ = 0;
    std::uint64_t in_flight_ = 0;
    std::uint64_t windows_without_progress_ = 0;
    SimulationStatistics statistics_;
};

}  // namespace lockstep::engine
