// SPDX-License-Identifier: Apache-2.0
// The parameters of the memory side: a row each. Those without a member are what MemoryParameters
// derives its own from.
#include "models/gpu/device/parameter_rows.h"

namespace lockstep::gpu {

using config::Row;
using config::Type;

namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;
constexpr double kTebi = 1024 * kGibi;

}  // namespace

std::span<const Row<MemoryParameters>> memory_rows() {
    static const std::vector<Row<MemoryParameters>> kRows{
        {"crossbar.request_latency", &MemoryParameters::request_latency, "cycle", 1, 10000,
         "from an SM to an L2 slice"},
        {"crossbar.reply_latency", &MemoryParameters::reply_latency, "cycle", 1, 10000,
         "from an L2 slice to an SM"},
        {"crossbar.request_bandwidth", &MemoryParameters::request_bandwidth, "B", 1, 4096,
         "bytes that an SM sends in a cycle"},
        {"crossbar.store_request", &MemoryParameters::store_request, "B", 1, 4096,
         "bytes that a store's request to one line takes at the SM's port at least, however few "
         "it writes"},
        {"crossbar.reply_bandwidth", &MemoryParameters::reply_bandwidth, "B", 1, 4096,
         "bytes that an SM receives in a cycle"},
        {"crossbar.gpc_bandwidth", &MemoryParameters::gpc_bandwidth, "B", 1, 65536,
         "bytes that the SMs of a GPC receive in a cycle, what several of them share counted once"},
        {"crossbar.outstanding", &MemoryParameters::outstanding, "1", 1, 4096,
         "unanswered requests of an SM to a sixth or an eighth of the slices"},
        {"l2.size", Type::kInteger, "B", 0, kGibi, "L2 cache of the chip"},
        {"l2.partitions", &MemoryParameters::l2_partitions, "1", 1, 2,
         "parts of L2, each near some of the SMs"},
        {"l2.slices", &MemoryParameters::slices, "1", 1, 1024,
         "slices of L2, all partitions together"},
        {"l2.ways", &MemoryParameters::ways, "1", 1, 64, "ways of a slice"},
        {"l2.replacement", &MemoryParameters::replacement, kReplacementPolicies,
         "which line of a full set makes room, of those of the lowest eviction priority"},
        {"l2.hit_latency", Type::kInteger, "cycle", 2, 10000,
         "from a request at the SM's port to the reply there, hit in the near partition"},
        {"l2.far_latency", Type::kInteger, "cycle", 0, 10000,
         "more where the data is in the other partition; there and back, an even number"},
        Row<MemoryParameters>{"l2.link_bandwidth", &MemoryParameters::link_bandwidth, "B", 0, 4096,
                              "a slice sends to its peer, in the other partition, in an SM cycle; "
                              "0: no limit"}
            .defaults_to("0"),
        Row<MemoryParameters>{
            "l2.link_queue", &MemoryParameters::link_queue, "cycle", 0, 10000,
            "before it: lookups of what sends data to the peer go on while it is behind by no more"}
            .defaults_to("200"),
        {"l2.slice_bandwidth", &MemoryParameters::slice_bandwidth, "B", 1, 4096,
         "a slice delivers or takes in an SM cycle; atomics pass twice, read and written"},
        Row<MemoryParameters>{"l2.slice_write_bandwidth", &MemoryParameters::slice_write_bandwidth,
                              "B", 0, 4096,
                              "a slice takes of writes in an SM cycle; 0: l2.slice_bandwidth"}
            .defaults_to("0"),
        Row<MemoryParameters>{
            "l2.data_queue", &MemoryParameters::data_queue, "cycle", 0, 10000,
            "before a slice's data stage: lookups go on while it is behind by no more"}
            .defaults_to("16"),
        Row<MemoryParameters>{"l2.partial_write_passes", &MemoryParameters::partial_write_passes,
                              "1", 1, 16,
                              "of a write with partly written sectors through a slice's data stage"}
            .defaults_to("1"),
        {"l2.coalescer_entries", &MemoryParameters::coalescer_entries, "1", 0, 65536,
         "reads that a slice's request coalescer lets others follow at one time; 0: none"},
        {"l2.coalescer_merge", &MemoryParameters::coalescer_merge, "1", 1, 4096,
         "reads by SMs that are one to the slice"},
        Row<MemoryParameters>{"l2.coalescer_window", &MemoryParameters::coalescer_window, "cycle",
                              0, 10000,
                              "after the slice has taken a read, in which others still follow it"}
            .defaults_to("0"),
        {"l2.fetch_granularity", Type::kInteger, "B", 32, 128, "fetched from DRAM by a read miss"},
        {"l2.mshrs", &MemoryParameters::mshrs, "1", 1, 65000,
         "lines that a slice waits for at one time"},
        {"l2.write_back_buffer", &MemoryParameters::write_back_buffer, "1", 4, 65000,
         "sectors of a slice on their way to DRAM at one time"},
        {"l2.row_write_back", &MemoryParameters::row_write_back,
         "an evicted dirty line takes those of its DRAM row along"},
        {"l2.atomic_interval", &MemoryParameters::atomic_interval, "cycle", 0.125, 100,
         "between two integer atomics at one address"},
        {"l2.float_atomic_interval", &MemoryParameters::float_atomic_interval, "cycle", 0.125, 100,
         "between two floating-point atomics at one address"},
        {"tlb.page_size", Type::kInteger, "B", 4096, kTebi, "bytes that a TLB entry maps"},
        {"tlb.l2_entries", &MemoryParameters::tlb_entries, "1", 1, 1 << 24,
         "entries of the TLB beside L2"},
        {"tlb.l2_ways", Type::kInteger, "1", 1, 1 << 24, "ways of the TLB beside L2"},
        {"tlb.l2_latency", &MemoryParameters::tlb_latency, "cycle", 0, 10000,
         "of a lookup in the TLB beside L2"},
        {"tlb.walk_latency", &MemoryParameters::walk_latency, "cycle", 0, 100000,
         "of a page walk, beyond the lookup in the TLB beside L2"},
        {"tlb.walkers", &MemoryParameters::walkers, "1", 1, 1024,
         "page walks of a memory partition at one time"},
        {"dram.standard", Type::kText, "1", 0, 0, "row of models/memory/dram/standards.cpp"},
        {"dram.ranks", Type::kInteger, "1", 1, 8, "ranks of a channel; HBM: stack ids"},
        {"dram.latency", Type::kInteger, "cycle", 1, 10000,
         "what an unloaded DRAM read adds to an L2 hit"},
        {"dram.refresh_order", &MemoryParameters::refresh_order, kRefreshOrders,
         "how the refreshes of channels lie in time"},
        {"dram.read_queue", &MemoryParameters::read_queue, "1", 4, 4096,
         "reads that a controller chooses among"},
        {"dram.write_queue", &MemoryParameters::write_queue, "1", 64, 4096,
         "writes that a controller chooses among"},
        {"dram.write_high", Type::kNumber, "1", 0.01, 1,
         "part of the write queue that starts a batch of writes"},
        {"dram.write_low", Type::kNumber, "1", 0, 0.99,
         "part of the write queue that ends a batch of writes where reads wait"},
        {"dram.interleave", &MemoryParameters::interleave, "B", 128, 65536,
         "consecutive bytes in one channel"},
        {"dram.size", Type::kInteger, "B", 1 << 20, 512 * kGibi, "device memory"},
        {"dram.bus_width", Type::kInteger, "bit", 1, 65536, "width of the memory bus"},
        {"dram.bandwidth", Type::kNumber, "GB/s", 0.001, 100000, "peak bandwidth"},
        Row<MemoryParameters>{"ideal.l2", &MemoryParameters::ideal_l2,
                              "L2 holds every line and uses no DRAM"}
            .defaults_to("false"),
        Row<MemoryParameters>{
            "ideal.dram", &MemoryParameters::ideal_dram,
            "every DRAM access finds its row open and the bus free, however many there are"}
            .defaults_to("false"),
    };
    return kRows;
}

std::span<const Row<memory::dram::Policies>> dram_policy_rows() {
    using memory::dram::Policies;
    static const std::vector<Row<Policies>> kRows{
        {"dram.scheduler", &Policies::scheduler, memory::dram::kSchedulers,
         "which waiting request a controller serves"},
        {"dram.row_policy", &Policies::rows, memory::dram::kRowPolicies,
         "when an open row is closed (page policy)"},
        {"dram.row_timeout", &Policies::row_timeout_ns, "ns", 0, 1e6,
         "of dram.row_policy timeout, and at first of adaptive"},
        {"dram.refresh", &Policies::refresh, memory::dram::kRefreshPolicies, "what is refreshed"},
    };
    return kRows;
}

}  // namespace lockstep::gpu
