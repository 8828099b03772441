// SPDX-License-Identifier: Apache-2.0
// One simulated system: the engine's Simulation, which all its chips live on.
#pragma once

#include <optional>
#include <string>

#include "sim/engine/simulation.h"

namespace lockstep::system {

struct SystemOptions {
    std::string name;
    unsigned threads = 1;         ///< host threads; results never depend on it
    bool names_channels = false;  ///< as in engine::SimulationOptions, as the next one
    std::optional<std::uint64_t> shuffle;
    engine::Time slowest_cycle = 0;  ///< the longest clock period of its chips
};

class System {
  public:
    explicit System(const SystemOptions& options);

    engine::Simulation& simulation() { return simulation_; }

  private:
    engine::Simulation simulation_;
};

}  // namespace lockstep::system
