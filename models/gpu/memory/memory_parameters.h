// SPDX-License-Identifier: Apache-2.0
// The memory side's parameters, resolved from the machine file. Cycles are the SMs'.
#pragma once

#include "models/gpu/memory/message.h"
#include "models/gpu/memory/replacement/replacement_policy.h"
#include "models/memory/dram/policies.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Bandwidths are served in 256ths of a cycle.
inline constexpr engine::Cycle kFraction = 256;

enum class RefreshOrder : std::uint8_t { kByChannel, kTogether };
inline constexpr config::Choice kRefreshOrders[] = {
    {"by_channel", "one channel after the other"},
    {"together", "all at once"},
};

struct MemoryParameters {
    // Crossbar.
    engine::Cycle request_latency, reply_latency;
    double request_bandwidth, reply_bandwidth;  ///< bytes a cycle of an SM
    std::uint32_t store_request;                ///< bytes of a store's request at least
    double gpc_bandwidth;                       ///< bytes a cycle to a GPC
    std::uint32_t outstanding;                  ///< of an SM at one memory partition

    // L2.
    std::uint32_t l2_partitions;
    std::uint32_t slices;  ///< of the chip
    std::uint32_t ways, sets;
    ReplacementPolicy replacement;
    engine::Cycle slice_latency;   ///< from a slice's tags to the crossbar
    engine::Cycle far_latency;     ///< one way between two L2 partitions; 0: there is one
    double link_bandwidth;         ///< bytes a cycle from a slice to its peer; 0: no limit
    engine::Cycle link_queue;      ///< before it
    double slice_bandwidth;        ///< bytes a cycle
    double slice_write_bandwidth;  ///< likewise, of writes
    engine::Cycle lookup;          ///< of a slice's tags, in 256ths of a cycle
    engine::Cycle data_queue;      ///< that lookups run ahead of a slice's data stage
    std::uint32_t coalescer_entries, coalescer_merge, coalescer_window;  ///< of a slice
    std::uint32_t partial_write_passes;                                  ///< through its data stage
    std::uint32_t fetch_sectors;  ///< read misses fetch aligned groups of so many
    std::uint32_t mshrs, write_back_buffer;
    bool row_write_back;  ///< dirty lines of one DRAM row leave together
    double atomic_interval, float_atomic_interval;

    // MMU.
    std::uint64_t page_lines;
    std::uint32_t tlb_entries, tlb_ways, walkers;
    engine::Cycle tlb_latency, walk_latency;
    bool tlb_warm;  ///< at the start

    // DRAM.
    memory::dram::Geometry dram;
    std::uint32_t interleave;
    memory::dram::Policies policies;
    RefreshOrder refresh_order;
    std::uint32_t read_queue, write_queue;
    std::uint32_t write_high, write_low;  ///< writes that begin and end a batch
    engine::Cycle open_row_latency;       ///< of a read that meets an open row and nobody else
    engine::Cycle dram_request_latency, dram_reply_latency;  ///< around the command clock's part

    bool ideal_l2, ideal_dram;

    /// Memory partitions (Tiles) near one part of L2; each holds several slices and channels.
    std::uint32_t tiles_per_l2_partition;

    std::uint32_t slices_per_l2_partition() const { return slices / l2_partitions; }
    std::uint32_t tiles() const { return tiles_per_l2_partition * l2_partitions; }
    /// By which share of the time in which all is refreshed once a channel's come early.
    double refresh_phase(std::uint32_t channel) const {
        return refresh_order == RefreshOrder::kByChannel
                   ? static_cast<double>(channel) / dram.channels
                   : 0;
    }
    /// Of a DRAM channel.
    memory::dram::ControllerParameters controller(double phase) const;
    /// The part of L2 that an SM is near.
    std::uint32_t l2_partition_of(std::uint32_t sm) const { return sm / 2 % l2_partitions; }
    engine::ClockDomain clock{1};

    /// Throws InputError where the numbers do not go together.
    static MemoryParameters of(const config::Machine& machine);
};

/// Cycles, in 256ths, in which so many bytes pass.
constexpr engine::Cycle service(std::uint32_t bytes, double bytes_per_cycle) {
    return static_cast<engine::Cycle>(bytes / bytes_per_cycle * kFraction + 0.5);
}

}  // namespace lockstep::gpu
