// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator of an SM: takes copies in order, reads their tensor map through a
// cache of its own, cuts boxes and blocks into lines and asks for these past the L1.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "isa/sass/tma/copy.h"
#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/coalescer.h"
#include "models/gpu/sm/memory_unit_parameters.h"

namespace lockstep::gpu {

/// In order; so many lines at a time wait for replies, so many bytes a cycle are asked for.
class TmaUnit {
  public:
    TmaUnit(const MemoryUnitParameters& parameters, MemoryCounters& counters)
        : p_(parameters), counters_(counters) {}

    /// `pending`: the instruction's place in the table of those that wait. The copy is not looked
    /// at later.
    void start(engine::Cycle now, std::uint32_t pending, const sass::AsyncCopy& copy);
    /// When next to take() something; kNever: not before a map or other lines have come.
    engine::Cycle next_event() const;

    struct Part {
        std::uint32_t pending = 0;
        RequestKind kind = RequestKind::kRead;
        EvictionPriority priority = EvictionPriority::kNormal;
        std::uint8_t prefetch_sectors = 0;
        LineAccess line;          ///< no sectors: nothing is to be asked for
        bool is_map = false;      ///< the line is the copy's map: map_arrived() is to follow
        bool is_last = false;     ///< of its copy
        unsigned wavefronts = 0;  ///< of shared memory that are read, or filled, now
    };
    Part take(engine::Cycle now);
    void map_arrived(engine::Cycle now);
    /// Sectors of a reply.
    void arrived(std::uint8_t sectors);
    /// Sectors that the copy in this place will wait for, its map aside.
    static std::uint32_t sectors_of(const sass::AsyncCopy& copy);

  private:
    struct Job {
        std::uint32_t pending = 0;
        sass::CopyKind copy = sass::CopyKind::kLoad;
        RequestKind kind = RequestKind::kRead;
        EvictionPriority priority = EvictionPriority::kNormal;
        std::uint8_t prefetch_sectors = 0;
        std::uint64_t map_line = 0;  ///< 0: it has none
        bool forgets_map = false;
        std::vector<LineAccess> lines;
        std::size_t next = 0;
        std::uint32_t bytes_left = 0;  ///< of shared memory, beyond what its lines bring
    };
    bool knows(std::uint64_t map_line) const;
    void learn(std::uint64_t map_line);
    bool is_full() const { return in_flight_ >= p_.bulk_copy_requests * kSectorsPerLine; }

    const MemoryUnitParameters& p_;
    MemoryCounters& counters_;
    std::deque<Job> jobs_;
    std::vector<std::uint64_t> maps_;  ///< lines of maps in the cache, the oldest first
    bool awaits_map_ = false;
    unsigned in_flight_ = 0;  ///< sectors
    engine::Cycle next_ = 0;
};

}  // namespace lockstep::gpu
