// SPDX-License-Identifier: Apache-2.0
// A memory partition's way to a DRAM that is modelled elsewhere.
#pragma once

#include "models/gpu/memory/dram_channel.h"
#include "models/gpu/memory/slot_pool.h"
#include "sim/engine/channel.h"
#include "sim/engine/memory_message.h"

namespace lockstep::gpu {

/// Stands in for all of a partition's DramChannels; one message a sector.
class DramPort {
  public:
    explicit DramPort(engine::Tile& tile)
        : requests(tile, "dram_requests"), responses(tile, "dram_responses") {}

    engine::Sender<engine::MemoryRequest> requests;
    engine::Receiver<engine::MemoryResponse> responses;

    /// `line`: LineMap::device_line. Leaves L2 at a cycle of the window that is running.
    void request(engine::Cycle at, std::uint64_t line, const DramChannel::Transfer& transfer);
    /// What has come back whole before `until`.
    void take(engine::Cycle until, std::vector<DramChannel::Completion>& completions);
    /// Sends what is due before `until`, as far as there are credits; true where nothing is left.
    bool send(engine::Cycle until);
    bool idle() const { return entries_.is_empty(); }

  private:
    struct Entry {
        DramChannel::Transfer transfer;
        std::uint8_t left = 0;  ///< sectors
    };
    struct Waiting {
        engine::Cycle at = 0;
        engine::MemoryRequest request;
    };

    SlotPool<Entry> entries_;
    Ring<Waiting> waiting_;
};

}  // namespace lockstep::gpu
