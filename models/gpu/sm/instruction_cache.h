// SPDX-License-Identifier: Apache-2.0
// Instruction fetch: an L0 cache with a stream buffer for each sub-core, an L1 for the SM.
#pragma once

#include <cstdint>

#include "models/gpu/sm/fetch_unit.h"
#include "models/gpu/sm/sm_parameters.h"
#include "models/gpu/sm/tag_array.h"

namespace lockstep::gpu {

/// The SM's instruction cache.
class L1InstructionCache {
  public:
    L1InstructionCache(const SmParameters& p, FetchUnit& fetch)
        : line_(p.instruction_line),
          fetch_(fetch),
          tags_(p.l1_bytes / p.instruction_line, p.l1_ways) {}

    /// Forgets what it holds; code begins at an address of device memory.
    void begin_kernel(std::uint64_t code) {
        tags_.clear();
        code_ = code;
    }
    /// Bytes of code, from an offset on, were brought to it before a kernel began.
    void hold(engine::Cycle at, std::uint32_t offset, std::uint32_t bytes) {
        const std::uint32_t end = (offset + bytes + line_ - 1) / line_;
        for (std::uint32_t line = offset / line_; line < end; ++line) tags_.insert(line, at);
    }
    /// A line asked for at `now`: `now`, or kPending where it has to come first.
    engine::Cycle request(engine::Cycle now, std::uint32_t line) {
        if (tags_.find(line) != engine::kNever) return now;
        fetch_.ask(now, {.line = {FetchKind::kInstructions, line},
                         .address = address_of(code_, line, line_)});
        return kPending;
    }
    void arrived(engine::Cycle now, std::uint32_t line) { tags_.insert(line, now); }

  private:
    unsigned line_;
    FetchUnit& fetch_;
    TagArray tags_;
    std::uint64_t code_ = 0;
};

/// Of one sub-core. Line numbers count instruction lines of the program.
class L0InstructionCache {
  public:
    L0InstructionCache(const SmParameters& parameters, L1InstructionCache& l1)
        : is_ideal_(parameters.ideal_instruction_cache),
          latency_(parameters.l0_miss_latency),
          interval_(parameters.prefetch_interval),
          depth_(parameters.prefetch_lines),
          l1_(l1),
          tags_(parameters.l0_bytes / parameters.instruction_line, parameters.l0_ways),
          stream_(depth_) {}

    /// From which cycle on (>= now) instructions of the line can be fetched, or kPending; false in
    /// `hit` where it had to come from the stream buffer or L1.
    engine::Cycle fetch(engine::Cycle now, std::uint32_t line, bool& hit);
    /// L1 has got a line: from which cycle on it can be fetched, where a warp waits for it; else
    /// kNever.
    engine::Cycle arrived(engine::Cycle now, std::uint32_t line);
    void clear();

  private:
    void keep_stream(engine::Cycle now);
    engine::Cycle from_l1(engine::Cycle now, std::uint32_t line) {
        const engine::Cycle start = std::max(now, port_free_);
        const engine::Cycle there = l1_.request(start, line);
        if (there == kPending) return kPending;
        port_free_ = start + interval_;
        return there + latency_;
    }

    bool is_ideal_;
    unsigned latency_, interval_, depth_;
    L1InstructionCache& l1_;
    TagArray tags_;
    std::vector<engine::Cycle> stream_;  ///< arrival of lines stream_line_.. , a ring
    std::uint32_t stream_line_ = 0;
    unsigned stream_head_ = 0, stream_count_ = 0;
    std::vector<std::uint32_t> awaited_;  ///< lines that warps wait for, pending
    engine::Cycle port_free_ = 0;
};

}  // namespace lockstep::gpu
