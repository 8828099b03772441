// SPDX-License-Identifier: Apache-2.0
// Instruction fetch: an L0 cache with a stream buffer for each sub-core, an L1 for the SM.
#pragma once

#include <cstdint>

#include "models/gpu/sm/sm_parameters.h"
#include "models/gpu/sm/tag_array.h"

namespace lockstep::gpu {

/// The SM's instruction cache.
class L1InstructionCache : public SharedCache {
  public:
    explicit L1InstructionCache(const SmParameters& p)
        : SharedCache(p.l1_bytes, p.instruction_line, p.l1_ways, p.l1_miss_latency) {}
};

/// Of one sub-core. Line numbers count instruction lines of the program.
class L0InstructionCache {
  public:
    L0InstructionCache(const SmParameters& parameters, L1InstructionCache& l1)
        : latency_(parameters.l0_miss_latency),
          interval_(parameters.prefetch_interval),
          depth_(parameters.prefetch_lines),
          l1_(l1),
          tags_(parameters.l0_bytes / parameters.instruction_line, parameters.l0_ways),
          stream_(depth_) {}

    /// From which cycle on (>= now) instructions of the line can be fetched; false in `hit` where
    /// it had to come from the stream buffer or L1.
    engine::Cycle fetch(engine::Cycle now, std::uint64_t line, bool& hit);
    void clear();

  private:
    engine::Cycle from_l1(engine::Cycle now, std::uint64_t line) {
        const engine::Cycle start = std::max(now, port_free_);
        port_free_ = start + interval_;
        return l1_.request(start, line) + latency_;
    }

    unsigned latency_, interval_, depth_;
    L1InstructionCache& l1_;
    TagArray tags_;
    std::vector<engine::Cycle> stream_;  ///< arrival of lines stream_line_.. , a ring
    std::uint64_t stream_line_ = 0;
    unsigned stream_head_ = 0, stream_count_ = 0;
    engine::Cycle port_free_ = 0;
};

}  // namespace lockstep::gpu
