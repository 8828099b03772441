// SPDX-License-Identifier: Apache-2.0
// A DRAM channel as L2 sees it: the controller with its own clock behind queues in SM cycles.
#pragma once

#include "models/gpu/memory/memory_parameters.h"
#include "models/gpu/memory/ring.h"
#include "models/memory/dram/controller.h"

namespace lockstep::gpu {

class DramChannel {
  public:
    struct Completion {
        engine::Cycle at;  ///< of the SM clock: the data is at L2
        std::uint64_t id;
    };

    explicit DramChannel(const MemoryParameters& parameters);

    /// A sector's request that leaves L2 at a cycle.
    void request(engine::Cycle at, memory::dram::Direction direction,
                 const memory::dram::Location& location, std::uint64_t id);

    /// Does what happens before cycle `until`. Completions follow no sooner than
    /// dram_reply_latency after `until`'s predecessor.
    void advance(engine::Cycle until, std::vector<Completion>& completions);
    engine::Cycle next_event() const;
    bool idle() const { return reads_.empty() && writes_.empty() && controller_.waiting() == 0; }
    const memory::dram::Statistics& statistics() const { return controller_.statistics(); }

  private:
    struct Request {
        memory::dram::Cycle at = 0;
        memory::dram::Location location;
        std::uint64_t id = 0;
    };

    memory::dram::Cycle dram_cycle(engine::Cycle at) const;
    engine::Cycle sm_cycle(memory::dram::Cycle at) const;
    bool offer(Ring<Request>& queue, memory::dram::Direction direction, memory::dram::Cycle now);

    const MemoryParameters& parameters_;
    memory::dram::Controller controller_;
    memory::dram::Cycle reached_ = 0;
    Ring<Request> reads_, writes_;  ///< not in the controller yet, by time
};

}  // namespace lockstep::gpu
