// SPDX-License-Identifier: Apache-2.0
// A memory partition: slices of L2 with the DRAM channels behind them.
#pragma once

#include "models/gpu/counters.h"
#include "models/gpu/memory/crossbar_port.h"

namespace lockstep::gpu {

class MemoryPartition final : public engine::Tile {
  public:
    /// `l2_partition`: the part of L2 it belongs to; `number`: among that part's Tiles.
    MemoryPartition(engine::Simulation& simulation, const MemoryParameters& parameters,
                    const LineMap& map, std::uint32_t l2_partition, std::uint32_t number);

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override { return replies_.empty(); }
    std::string explain_wait() const override;

    const PartitionCounters& counters() const { return counters_; }

  private:
    friend class MemorySystem;

    /// The way from an SM and back.
    struct Link {
        explicit Link(engine::Tile& tile) : requests(tile, "requests"), replies(tile, "replies") {}
        engine::Receiver<RoutedRequest> requests;
        engine::Sender<MemoryReply> replies;
    };
    struct Arrival {
        engine::Cycle at;
        std::uint32_t link;
        RoutedRequest request;
    };
    struct Departure {
        engine::Cycle at;
        std::uint32_t link;
        MemoryReply reply;
    };

    void gather(engine::Cycle until);

    const MemoryParameters& parameters_;
    std::vector<std::unique_ptr<Link>> links_;  ///< by SM of the near ones
    std::vector<Arrival> arrivals_;             ///< of this window
    std::vector<Departure> replies_;            ///< not sent yet
    PartitionCounters counters_;
};

}  // namespace lockstep::gpu
