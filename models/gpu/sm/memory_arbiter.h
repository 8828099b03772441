// SPDX-License-Identifier: Apache-2.0
// Hands memory instructions of the sub-cores' queues to the SM's memory unit, one at a time: the
// sub-core goes first whose oldest instruction has waited longest. Special registers and, on some
// chips, indexed constants have an entrance of their own (Nsight Compute's guide: the address
// divergence unit, ADU, beside the LSU).
#pragma once

#include <array>
#include <iterator>
#include <vector>

#include "models/gpu/cluster/cluster_unit.h"
#include "models/gpu/sm/memory_queue.h"
#include "models/gpu/sm/memory_unit.h"
#include "models/gpu/sm/sm_watch.h"
#include "models/gpu/sm/warps.h"

namespace lockstep::gpu {

class MemoryArbiter {
  public:
    MemoryArbiter(const SmParameters& parameters, Warps& warps, const MemoryCounters& counters,
                  SmWatch& watch)
        : queues_(parameters.sub_cores,
                  MemoryQueue(parameters.memory_queue, parameters.global_queue,
                              parameters.address_interval)),
          heads_(parameters.sub_cores),
          warps_(warps),
          counters_(counters),
          watch_(watch) {
        first_.fill(kNobody);
    }

    /// What instructions go to from now on, and whose stores can hold them up; null: no clusters.
    void connect(MemoryUnit& memory, const ClusterUnit* cluster) {
        memory_ = &memory;
        cluster_ = cluster;
        next_ = engine::kNever;
    }

    bool has_room(unsigned sub_core, bool is_global) const {
        return queues_[sub_core].has_room(is_global);
    }
    /// The sub-core's next instruction, to be filled in; its addresses are known at `ready`.
    /// update() is to follow.
    MemoryInstruction& push(unsigned sub_core, MemoryOperation operation, bool is_global,
                            engine::Cycle ready, engine::Cycle now);

    /// When there is something to do; kNever: not before an update().
    engine::Cycle next() const { return next_; }
    /// What it waits for may have changed: looks again, at `now` at the earliest.
    void update(engine::Cycle now);
    /// Hands on what is due; of which sub-cores, a bit for each.
    unsigned arbitrate(engine::Cycle now);

  private:
    using Entrance = MemoryUnit::Entrance;
    static constexpr Entrance kEach[] = {MemoryUnit::kLoadStore, MemoryUnit::kConstants,
                                         MemoryUnit::kRegisters};
    static_assert(std::size(kEach) == MemoryUnit::kEntrances);

    bool is_blocked(Entrance by) const {
        return by == MemoryUnit::kLoadStore && cluster_ != nullptr && cluster_->is_full();
    }
    /// The oldest instruction of a queue: all that choosing asks for, in one place.
    struct Head {
        engine::Cycle ready = engine::kNever;  ///< when it can be handed on; kNever: there is none
        MemoryOperation operation = MemoryOperation::kLoadGlobal;
        Entrance by = MemoryUnit::kLoadStore;
    };
    static constexpr unsigned kNobody = ~0u;

    void look_at_head(unsigned sub_core, MemoryOperation operation) {
        heads_[sub_core] = {queues_[sub_core].next(), operation, memory_->entrance(operation)};
        choose_first();
    }
    void choose_first();
    /// When the first may enter; kNever: there is none, or not before an update().
    engine::Cycle due(Entrance by, engine::Cycle now) const;
    void hand_on(unsigned sub_core, engine::Cycle now);

    std::vector<MemoryQueue> queues_;  ///< by sub-core
    std::vector<Head> heads_;          ///< likewise
    /// The sub-core whose head has waited longest, by entrance; kNobody: none has one for it.
    std::array<unsigned, MemoryUnit::kEntrances> first_;
    Warps& warps_;
    const MemoryCounters& counters_;
    SmWatch& watch_;
    MemoryUnit* memory_ = nullptr;
    const ClusterUnit* cluster_ = nullptr;
    std::array<engine::Cycle, MemoryUnit::kEntrances> free_{};
    engine::Cycle next_ = engine::kNever;
};

}  // namespace lockstep::gpu
