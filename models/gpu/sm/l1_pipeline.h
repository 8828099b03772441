// SPDX-License-Identifier: Apache-2.0
// Global and local memory: the tag stage of the L1 and everything that waits for L2.
#pragma once

#include <optional>
#include <vector>

#include "models/gpu/memory/slot_pool.h"
#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/l1_cache.h"
#include "models/gpu/sm/l1_lanes.h"
#include "models/gpu/sm/l1_queues.h"
#include "models/gpu/sm/latency_fifo.h"
#include "models/gpu/sm/miss_table.h"
#include "models/gpu/sm/pending_table.h"
#include "models/gpu/sm/send_queue.h"
#include "models/gpu/sm/store_buffer.h"
#include "models/gpu/sm/tlb.h"
#include "models/gpu/sm/tma_unit.h"

namespace lockstep::gpu {

class L1Pipeline {
  public:
    L1Pipeline(const MemoryUnitParameters& parameters, std::uint16_t sm, std::uint64_t cache_bytes,
               MemoryPort& port, MemoryListener& listener, MemoryCounters& counters, DataPath& data,
               SharedMemory& shared);

    /// Nothing can enter before a reply or before a request has left.
    bool is_blocked() const { return stalled_ || queue_.size() >= p_.miss_queue; }
    /// Loads and atomics can't either.
    bool is_full() const { return fifo_.size() >= p_.pending_requests; }
    /// When the tag stage is free.
    engine::Cycle free_from() const { return tags_free_; }

    /// When the texture units are free.
    engine::Cycle texture_free_from() const { return texture_free_; }

    void load(engine::Cycle now, const MemoryInstruction& in);
    void store(engine::Cycle now, const MemoryInstruction& in);
    void atomic(engine::Cycle now, const MemoryInstruction& in);
    void bulk_copy(engine::Cycle now, const MemoryInstruction& in);

    void advance(engine::Cycle now);
    engine::Cycle next_event() const;
    bool idle() const { return pending_.is_empty() && misses_.is_empty() && to_send() == 0; }
    L1Queues queues() const { return {fifo_.size(), misses_.size(), to_send()}; }
    void invalidate();

  private:
    /// A load whose lines have not all passed the tags, for want of entries.
    struct Stalled {
        std::uint32_t pending;
        unsigned next_line;
        engine::Cycle since;
    };

    engine::Cycle next_release() const;
    std::size_t to_send() const { return queue_.size() + partial_stores_.size(); }
    AccessCounters& counted(const MemoryInstructionInfo& info);
    unsigned pass_tags(engine::Cycle now, const MemoryInstruction& in);
    /// When the request for the line can leave.
    engine::Cycle leaves(engine::Cycle now, unsigned line) const {
        return now + p_.tag_latency + line / p_.tags_per_cycle;
    }
    bool all_hit(const MemoryInstruction& in);
    void look_up_lines(engine::Cycle now, std::uint32_t index, unsigned first);
    void request(engine::Cycle ready, RequestKind kind, std::uint32_t id, const LineAccess& line,
                 EvictionPriority priority, std::uint8_t prefetch_sectors = 0,
                 bool bypasses = false);
    bool awaits_others(std::uint32_t index, const LineAccess& line) const;
    bool joins_store(std::uint32_t index, const LineAccess& line);
    void take(engine::Cycle now, const MemoryReply& reply);
    void advance_tma(engine::Cycle now);
    void use_data_path(engine::Cycle now, unsigned wavefronts);
    void satisfy(engine::Cycle now, std::uint32_t index, unsigned parts);
    void pass_data(engine::Cycle now);
    void finish(engine::Cycle now, std::uint32_t index);
    void resume(engine::Cycle now);

    /// A store instruction's line that left with others'.
    struct MergedStore {
        static constexpr std::uint32_t kNone = 0xffff'ffff;
        std::uint32_t pending = 0, next = kNone;
    };

    const MemoryUnitParameters& p_;
    const std::uint16_t sm_;
    MemoryPort& port_;
    MemoryListener& listener_;
    MemoryCounters& counters_;
    DataPath& data_;
    L1Lanes lanes_;

    L1Cache l1_;
    MissTable misses_;
    Tlb tlb_;
    StoreBuffer partial_stores_;
    SendQueue queue_;
    TmaUnit tma_;
    PendingTable pending_;
    SlotPool<MergedStore> merged_;
    LineAccesses lines_;  ///< of the instruction in the tag stage
    std::optional<Stalled> stalled_;
    LatencyFifo fifo_;
    engine::Cycle tags_free_ = 0;
    engine::Cycle texture_free_ = 0;
    engine::Cycle fill_free_ = 0;  ///< the fill port; only data of LDGSTS takes its time
};

}  // namespace lockstep::gpu
