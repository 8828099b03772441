// SPDX-License-Identifier: Apache-2.0
// What a chip is made of: SMs, caches of GPCs, networks of clusters, crossbar and memory, the link
// to other chips.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/gpu/chip/gcc.h"
#include "models/gpu/chip/gpc_map.h"
#include "models/gpu/cluster/cluster_network.h"
#include "models/gpu/memory/memory_system.h"
#include "models/gpu/memory/peer_unit.h"
#include "models/gpu/sm/sm.h"
#include "sim/engine/simulation.h"

namespace lockstep::gpu {

/// Where a chip stands among others on one Simulation.
struct ChipPlace {
    std::string prefix;                     ///< of its Tiles' names
    const PeerParameters* peers = nullptr;  ///< null: there is one chip
};

/// Made and connected once; all live as long as it.
class ChipUnits {
  public:
    ChipUnits(engine::Simulation& simulation, const config::Machine& machine,
              const SmParameters& parameters, engine::ClockDomain clock, const ChipPlace& place);

    const std::vector<std::unique_ptr<Sm>>& sms() const { return sms_; }
    const CrossbarPort& port(std::size_t sm) const { return *ports_[sm]; }
    const std::vector<std::unique_ptr<Gcc>>& gccs() const { return gccs_; }  ///< by GPC
    const GpcMap& gpcs() const { return gpc_map_; }
    MemorySystem& memory() const { return *memory_; }
    PeerUnit* peers() const { return peers_.get(); }  ///< null: there is one chip
    bool is_at_rest() const;

  private:
    void connect_clusters(engine::Simulation& simulation, const config::Machine& machine,
                          engine::ClockDomain clock, const std::string& prefix);

    std::vector<std::unique_ptr<CrossbarPort>> ports_;  ///< of SMs
    std::vector<std::unique_ptr<Sm>> sms_;
    const GccParameters gcc_parameters_;
    std::vector<std::unique_ptr<Gcc>> gccs_;
    const GpcMap gpc_map_;
    std::unique_ptr<ClusterParameters> cluster_parameters_;  ///< null: no clusters
    std::vector<std::unique_ptr<ClusterNetwork>> networks_;  ///< by GPC
    std::unique_ptr<PeerUnit> peers_;
    std::unique_ptr<MemorySystem> memory_;
};

}  // namespace lockstep::gpu
