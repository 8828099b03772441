// SPDX-License-Identifier: Apache-2.0
// The parameters of an SM's memory unit, read once from the machine file.
#pragma once

#include <array>
#include <cstdint>

#include "models/gpu/sm/l1_cache.h"
#include "models/gpu/sm/latency_fifo.h"
#include "models/gpu/sm/memory_instruction.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Cycles counted from an instruction's arrival at the memory unit.
struct OperationTiming {
    std::uint16_t result = 0;   ///< hit without conflicts, 32 bits a lane, until a consumer issues
    std::uint16_t sources = 0;  ///< until the sources may be overwritten
};

struct MemoryUnitParameters {
    /// Throws InputError where the numbers do not go together.
    explicit MemoryUnitParameters(const config::Machine& machine);

    const OperationTiming& timing(const MemoryInstructionInfo& info) const {
        return timings[static_cast<unsigned>(info.operation)][info.is_uniform_address];
    }

    std::array<std::array<OperationTiming, 2>, kMemoryOperationCount>
        timings{};  ///< [][uniform address]

    unsigned sub_cores, sms, max_warps;
    std::uint64_t l1_bytes;  ///< with shared memory
    unsigned sets, tags_per_cycle, tag_interval, miss_entries, miss_queue, tag_latency;
    ReturnOrder return_order;
    ReplacementPolicy replacement;
    unsigned merge_window;  ///< 0: parts of sectors leave one by one
    unsigned merge_idle;
    bool allocates_stores, allocates_local_stores, constant_port;
    unsigned wavefront_cycles, pass_cycles, partial_store_passes, atomic_cycles, swap_cycles;
    unsigned constant_address_cycles, special_register_cycles, texture_lanes;
    unsigned request_interval, shuffle_interval, pending_requests, data_queue, data_stage_sms;
    unsigned return_width, source_width, shared_return_width;
    bool ideal_l1, ideal_tlb, tlb_warm;
    unsigned tlb_entries;
    std::uint64_t page_bytes;
    unsigned bulk_copy_latency, multicast_latency, bulk_copy_requests, bulk_copy_width;
    unsigned tma_map_entries, tma_map_latency, tma_copy_interval;
};

constexpr unsigned divide_up(unsigned a, unsigned b) {
    return (a + b - 1) / b;
}

}  // namespace lockstep::gpu
