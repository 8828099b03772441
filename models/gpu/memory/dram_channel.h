// SPDX-License-Identifier: Apache-2.0
// A DRAM channel as L2 sees it: the controller with its own clock behind queues in SM cycles.
#pragma once

#include <optional>

#include "models/gpu/memory/ideal_dram.h"
#include "models/gpu/memory/memory_parameters.h"
#include "models/gpu/memory/ring.h"
#include "models/gpu/memory/slot_pool.h"
#include "models/memory/dram/controller.h"

namespace lockstep::gpu {

class DramChannel {
  public:
    /// Sectors of a line, all in one row.
    struct Transfer {
        memory::dram::Direction direction = memory::dram::Direction::kRead;
        std::uint8_t sectors = 0;
        memory::dram::Location location;  ///< of the line's first sector
        std::uint32_t slice = 0;
        std::uint16_t mshr = 0;
    };
    struct Completion {
        engine::Cycle at;  ///< of the SM clock: all of the data is at L2, or in DRAM
        Transfer transfer;
    };

    /// number: of the chip's channels.
    DramChannel(const MemoryParameters& parameters, std::uint32_t number);

    /// Leaves L2 at a cycle.
    void request(engine::Cycle at, const Transfer& transfer);

    /// Does what happens before cycle `until`. Completions follow no sooner than
    /// dram_reply_latency after `until`'s predecessor.
    void advance(engine::Cycle until, std::vector<Completion>& completions);
    engine::Cycle next_event() const;
    bool idle() const {
        return reads_.empty() && writes_.empty() && controller_.waiting() == 0 &&
               (!ideal_ || ideal_->idle());
    }
    /// Transfers that have not begun.
    std::size_t queue() const { return reads_.size() + writes_.size() + controller_.waiting(); }
    const memory::dram::Statistics& statistics() const {
        return ideal_ ? ideal_->statistics() : controller_.statistics();
    }

  private:
    struct Request {
        memory::dram::Cycle at = 0;
        std::uint32_t entry = 0;
        std::uint8_t sectors = 0;  ///< not in the controller yet
    };
    /// A transfer under way.
    struct Entry {
        Transfer transfer;
        std::uint8_t left = 0;         ///< sectors
        memory::dram::Cycle last = 0;  ///< when the latest of the others was done
    };

    memory::dram::Cycle dram_cycle(engine::Cycle at) const;
    engine::Cycle sm_cycle(memory::dram::Cycle at) const;
    bool offer(Ring<Request>& queue, memory::dram::Direction direction, memory::dram::Cycle now);

    const MemoryParameters& parameters_;
    memory::dram::Controller controller_;
    std::optional<IdealDram<Transfer>> ideal_;  ///< instead of the controller
    memory::dram::Cycle reached_ = 0;
    SlotPool<Entry> entries_;
    Ring<Request> reads_, writes_;  ///< not wholly in the controller yet, by time
};

}  // namespace lockstep::gpu
