// SPDX-License-Identifier: Apache-2.0
// What of a Simulation is SystemC: the modules around the Tiles and the process that drives the
// windows. Apart, so that nothing else has to include <systemc>.
#pragma once

#include "sim/engine/simulation.h"

namespace lockstep::engine {

class SystemcShell {
  public:
    explicit SystemcShell(Simulation& simulation);
    ~SystemcShell();

    /// Makes the sc_module of a Tile, and those of the groups that its name tells.
    void add_tile(const Tile& tile);

    /// An end of a Channel: its Tile, and its name there.
    struct End {
        const Tile& tile;
        const std::string& role;
    };
    /// Makes sc_objects of the Channel ("sm0.requests3_channel") and its ends ("sm0.requests3").
    void add_channel(const ChannelBase& channel, const End& sender, const End& receiver);

    SignalId add_signal(const std::string& path);
    void set_signal(SignalId signal, Time at, std::uint64_t value);

    void build_inside(const Tile& tile, const std::function<void()>& build);

    /// Runs SystemC's kernel from the window that begins at `start` until end_window() answers
    /// kNever; throws what it threw. Called from a thread process of a program whose own sc_start()
    /// is under way, it waits there instead, while windows run at SystemC's time; what lies between
    /// that time and the Simulation's is kept, and grows where the Simulation stood.
    void run(Time start);

  private:
    class Driver;
    class TileModule;
    class Modules;

    Simulation& simulation_;
    std::unique_ptr<Modules> modules_;
};

}  // namespace lockstep::engine
