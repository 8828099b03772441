// SPDX-License-Identifier: Apache-2.0
// The SM-to-SM network of a GPC, and its unit for barrier.cluster.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/cluster/cluster_message.h"
#include "models/gpu/cluster/cluster_parameters.h"
#include "sim/engine/channel.h"
#include "sim/engine/simulation.h"

namespace lockstep::gpu {

class ClusterUnit;

/// What a port passes takes its time: bytes at a rate that need not be whole.
class PortServer {
  public:
    explicit PortServer(double bytes_per_cycle)
        : cost_(static_cast<std::uint64_t>(kUnits / bytes_per_cycle + 0.5)) {}
    /// When the last byte of a message whose first is ready at a cycle has passed.
    engine::Cycle pass(engine::Cycle ready, std::uint32_t bytes) {
        free_ = std::max(free_, ready * kUnits) + bytes * cost_;
        return (free_ + kUnits - 1) / kUnits;
    }
    /// The same of a message whose last byte has come at a cycle, through a port of this rate.
    engine::Cycle pass_on(engine::Cycle arrived, std::uint32_t bytes) {
        const std::uint64_t last = arrived * kUnits;
        free_ = std::max(free_ + bytes * cost_, last);
        return (free_ + kUnits - 1) / kUnits;
    }

  private:
    static constexpr std::uint64_t kUnits = 1024;  ///< of a cycle
    std::uint64_t cost_;                           ///< of a byte
    std::uint64_t free_ = 0;
};

class ClusterNetwork final : public engine::Tile {
  public:
    ClusterNetwork(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
                   const ClusterParameters& parameters);

    /// Before the first run.
    void connect(ClusterUnit& unit, std::uint16_t sm);

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override;
    std::string explain_wait() const override;

  private:
    struct Departure {
        engine::Cycle at = 0;
        ClusterMessage message;
    };
    struct Link {
        Link(engine::Tile& tile, std::uint16_t number, double bandwidth)
            : in(tile, fmt::format("in{}", number)),
              out(tile, fmt::format("out{}", number)),
              sm(number),
              port(bandwidth) {}
        engine::Receiver<ClusterMessage> in;
        engine::Sender<ClusterMessage> out;
        std::uint16_t sm;
        PortServer port;
        std::deque<Departure> departures;  ///< by time
    };
    struct Arrival {
        engine::Cycle at = 0;
        ClusterMessage message;
    };
    /// Ranks that have arrived at a cluster's barrier, and that have exited.
    struct Barrier {
        std::uint32_t arrived = 0, exited = 0;
    };

    void gather(engine::Cycle until);
    void route(const Arrival& arrival);
    void arrive(const Arrival& arrival);
    void leave(const Arrival& arrival, engine::Cycle at);

    const ClusterParameters& parameters_;
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<std::uint32_t> link_of_;  ///< by SM
    std::vector<Arrival> arrivals_;
    std::map<std::uint64_t, Barrier> barriers_;  ///< by cluster
};

}  // namespace lockstep::gpu
