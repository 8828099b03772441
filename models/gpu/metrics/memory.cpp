// SPDX-License-Identifier: Apache-2.0
// Metrics of the memory side. Atomics pass L1 and are looked up in no
// cache but L2, where they always find their sector or fetch it: they are not part of hit rates.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "models/gpu/memory/message.h"
#include "models/gpu/metrics/groups.h"

namespace lockstep::gpu {
namespace {

using M = MemoryCounters;
using P = PartitionCounters;

AccessCounters accesses(const LaunchView& l) {
    return l.measured.memory.all();
}

struct AccessName {
    CachedAccess access;
    const char* name;  ///< in Nsight Compute's names
    const char* what;
    bool is_looked_up = true;
};
constexpr AccessName kAccesses[] = {
    {CachedAccess::kGlobalLoad, "global_op_ld", "loads of global memory"},
    {CachedAccess::kGlobalStore, "global_op_st", "stores to global memory"},
    {CachedAccess::kCopy, "global_op_ldgsts", "LDGSTS"},
    {CachedAccess::kLocalLoad, "local_op_ld", "loads of local memory"},
    {CachedAccess::kLocalStore, "local_op_st", "stores to local memory"},
    {CachedAccess::kAtomic, "global_op_atom", "atomics that return a value", false},
    {CachedAccess::kReduction, "global_op_red", "atomics that return none", false},
    {CachedAccess::kTexture, "tex", "texture fetches and surface loads"}};
static_assert(std::size(kAccesses) == kCachedAccesses);

void add_accesses(MetricTable& table) {
    for (const AccessName& row : kAccesses) {
        const auto of = [access = row.access](const LaunchView& l) {
            return l.measured.memory.of(access);
        };
        const auto name = [&](const char* what, const char* end) {
            // Nsight Compute tells texture fetches from surface loads.
            if (row.access == CachedAccess::kTexture)
                return fmt::format("lockstep__l1_{}_pipe_{}{}", what, row.name, end);
            return fmt::format("l1tex__{}_pipe_lsu_mem_{}{}", what, row.name, end);
        };
        table.count(name("t_requests", ".sum"), "instruction",
                    fmt::format("{} that reached L1's tags", row.what),
                    [of](const LaunchView& l) { return of(l).requests; });
        table.count(name("t_sectors", ".sum"), "sector", "of these",
                    [of](const LaunchView& l) { return of(l).sectors; });
        if (row.is_looked_up)
            table.count(name("t_sectors", "_lookup_hit.sum"), "sector", "of these, found",
                        [of](const LaunchView& l) { return of(l).sectors_hit; });
        table.ratio(
            name("average_t_sectors_per_request", ".ratio"), "sector",
            fmt::format("of an average request: {}", row.what),
            [of](const LaunchView& l) { return of(l).sectors; },
            [of](const LaunchView& l) { return of(l).requests; });
    }
}

void add_l1(MetricTable& table) {
    const auto hit = [](const LaunchView& l) { return accesses(l).sectors_hit; };
    const auto lookups = [](const LaunchView& l) {
        return accesses(l).sectors - l.measured.memory.atomic_sectors();
    };
    table.count("lockstep__l1_requests.sum", "instruction",
                "global and local instructions that reached L1's tags",
                [](const LaunchView& l) { return accesses(l).requests; });
    table.count("lockstep__l1_tag_wavefronts.sum", "1", "their passes through the tag stage",
                memory<&M::tag_wavefronts>);
    table.count("l1tex__t_sectors.sum", "sector",
                "of global and local memory that L1 looked up, and those of atomics, which are no "
                "lookups",
                [](const LaunchView& l) { return accesses(l).sectors; });
    table.count("l1tex__t_sectors_lookup_hit.sum", "sector",
                "found; a store hits where its line is present", hit);
    table.count("l1tex__t_sectors_lookup_miss.sum", "sector", "not found",
                [=](const LaunchView& l) { return lookups(l) - hit(l); });
    table.percentage("l1tex__t_sector_hit_rate.pct", "found of looked up", hit, lookups);
    table.percentage(
        "lockstep__l1_load_sector_hit_rate.pct", "loads found in the cache, of all looked up",
        [](const LaunchView& l) { return l.measured.memory.loads().sectors_hit; },
        [](const LaunchView& l) { return l.measured.memory.loads().sectors; });
    add_accesses(table);
    table.percentage(
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.avg.pct_of_peak_sustained_active",
        "loads of global memory that reached L1's tags, of one an active cycle",
        [](const LaunchView& l) {
            return l.measured.memory.of(CachedAccess::kGlobalLoad).requests;
        },
        [](const LaunchView& l) { return l.measured.sm.cycles_active; });
    const std::pair<const char*, bool> directions[] = {{"ld", true}, {"st", false}};
    for (const auto& [name, is_load] : directions)
        table.count(std::string("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_") + name + ".sum",
                    "1",
                    std::string("passes of shared-memory ") + (is_load ? "loads" : "stores") +
                        " through the data stage",
                    [is_load = is_load](const LaunchView& l) {
                        const M& m = l.measured.memory;
                        return is_load ? m.shared_wavefronts_load : m.shared_wavefronts_store;
                    });
    const auto wavefronts = [](const LaunchView& l) {
        const M& m = l.measured.memory;
        return m.shared_wavefronts_load + m.shared_wavefronts_store;
    };
    table.count("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "1", "both", wavefronts);
    table.percentage("l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
                     "both, of one a cycle", wavefronts,
                     [](const LaunchView& l) { return l.sm_cycles(); });
    for (const auto& [name, is_load] : directions)
        table.count(
            std::string("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_") + name + ".sum", "1",
            "those beyond the fewest that the accesses could take",
            [is_load = is_load](const LaunchView& l) {
                const M& m = l.measured.memory;
                return is_load ? m.bank_conflicts_load : m.bank_conflicts_store;
            });
    table.count("l1tex__m_xbar2l1tex_read_sectors.sum", "sector", "that the L2 sent to the SMs",
                memory<&M::sectors_to_l2_read>);
    table.count("l1tex__m_l1tex2xbar_write_sectors.sum", "sector", "that the SMs sent to the L2",
                memory<&M::sectors_to_l2_write>);
    table.count("lockstep__l1_miss_table_full_cycles.sum", "cycle",
                "in which the tag stage stood still for want of entries in the table of misses",
                memory<&M::mshr_full>);
    table.percentage("lockstep__l1_tlb_hit_rate.pct", "translations found in the SMs' TLBs",
                     memory<&M::tlb_hits>, [](const LaunchView& l) {
                         return l.measured.memory.tlb_hits + l.measured.memory.tlb_misses;
                     });
    const auto has_copies = [](const LaunchView& l) { return l.measured.memory.tma_copies != 0; };
    table
        .count("lockstep__tma_copies.sum", "1",
               "boxes and blocks that TMA copied, prefetches included; of kernels that use it",
               memory<&M::tma_copies>)
        .only_where(has_copies);
    table
        .count("lockstep__tma_sectors.sum", "sector",
               "that TMA asked for or wrote; of kernels that use it", memory<&M::tma_sectors>)
        .only_where(has_copies);
    table
        .percentage(
            "lockstep__tma_map_hit_rate.pct",
            "tensor maps found in their cache; of kernels that use TMA",
            [](const LaunchView& l) {
                return l.measured.memory.tma_maps - l.measured.memory.tma_map_misses;
            },
            memory<&M::tma_maps>)
        .only_where(has_copies);
}

void add_gcc(MetricTable& table) {
    const auto lines = [](const LaunchView& l) {
        return l.measured.gcc.hits + l.measured.gcc.misses;
    };
    table.count("lockstep__gcc_requests.sum", "line",
                "of code and constants that SMs asked of their GPC's cache", lines);
    table.percentage(
        "lockstep__gcc_hit_rate.pct", "those found there",
        [](const LaunchView& l) { return l.measured.gcc.hits; }, lines);
}

// Sectors whose home is in the other L2 partition are looked up in both, and Nsight Compute counts
// them twice (an H200, programs.csv of validation/measured/h200: 1.50 to 1.53 times what streams
// read and write); what comes from the other partition has the unit "ltcfabric" there.
std::uint64_t reads(const LaunchView& l) {
    const PartitionCounters& c = l.measured.partition;
    return c.sectors_read_hit + c.sectors_read_miss + c.sectors_from_far;
}
std::uint64_t reads_that_hit(const LaunchView& l) {
    return l.measured.partition.sectors_read_hit + l.measured.partition.sectors_from_far_hit;
}
std::uint64_t writes(const LaunchView& l) {
    return l.measured.partition.sectors_write_hit + l.measured.partition.sectors_write_miss;
}
std::uint64_t atomics_that_hit(const LaunchView& l) {
    return l.measured.partition.atomics - l.measured.partition.atomics_miss;
}
std::uint64_t from_fabric(const LaunchView& l) {
    return l.measured.partition.sectors_from_far + l.measured.partition.sectors_to_far;
}
std::uint64_t l2_sectors(const LaunchView& l) {
    return reads(l) + writes(l) + l.measured.partition.atomics +
           l.measured.partition.sectors_to_far;
}
/// A write needs nothing from DRAM, and Nsight Compute counts every one as a hit (streaming writes
/// show a write hit rate of 100% on hardware: accel-sim/gpgpu-sim_distribution, pull request 141).
std::uint64_t l2_hits(const LaunchView& l) {
    return reads_that_hit(l) + writes(l) + atomics_that_hit(l) +
           l.measured.partition.sectors_to_far;
}

void add_l2(MetricTable& table) {
    table.count("lts__t_requests.sum", "request", "that reached the L2's slices",
                partition<&P::requests>);
    table.count("lts__t_sectors.sum", "sector",
                "looked up: reads, writes, atomics; in both L2 partitions where the home is far",
                l2_sectors);
    table.count("lts__t_sectors_srcnode_gpc.sum", "sector", "of these, for the GPCs",
                [](const LaunchView& l) { return l2_sectors(l) - from_fabric(l); });
    table.count("lts__t_sectors_srcunit_ltcfabric.sum", "sector",
                "of these, for the other L2 partition", from_fabric);
    table.percentage("lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                     "looked up, of the most that the slices take", l2_sectors,
                     [](const LaunchView& l) { return l.cycles() * l.peaks.l2_sectors; });
    table.count("lts__t_sectors_op_read.sum", "sector", "read", reads);
    table.count("lts__t_sectors_op_write.sum", "sector", "written", writes);
    table.count("lockstep__l2_atomic_sectors.sum", "sector", "on which atomics were performed",
                partition<&P::atomics>);
    table.count("lts__t_sectors_lookup_hit.sum", "sector",
                "found; every write is a hit, as Nsight Compute has it", l2_hits);
    table.count("lts__t_sectors_lookup_miss.sum", "sector", "not found",
                [](const LaunchView& l) { return l2_sectors(l) - l2_hits(l); });
    table.percentage("lts__t_sector_hit_rate.pct", "found of looked up", l2_hits, l2_sectors);
    table.percentage("lockstep__l2_atomic_sector_hit_rate.pct",
                     "atomics found in L2, of all looked up", atomics_that_hit,
                     partition<&P::atomics>);
    table.percentage("lts__t_sector_op_read_hit_rate.pct", "reads found in L2, of all looked up",
                     reads_that_hit, reads);
    table.percentage("lts__t_sector_op_write_hit_rate.pct",
                     "writes found in L2, of all looked up: 100 where there is one", writes,
                     writes);
    table.percentage("lockstep__l2_write_sectors_present.pct",
                     "writes whose sector was there already", partition<&P::sectors_write_hit>,
                     writes);
    table.count("lockstep__l2_write_backs.sum", "sector", "written back to DRAM",
                partition<&P::write_backs>);
    table.count("lockstep__l2_sectors_from_far_partition.sum", "sector",
                "brought from the other L2 partition", partition<&P::sectors_from_far>);
    table.count("lockstep__l2_sectors_to_far_partition.sum", "sector",
                "of writes and atomics that are performed in the other partition",
                partition<&P::sectors_to_far>);
    table.count("lrc__xbar2gpc_sectors_op_read.sum", "sector",
                "read by SMs, as the request coalescers before the slices passed them on",
                partition<&P::sectors_to_gpcs>);
    table.count("lrc__lts2lrc_sectors_op_read.sum", "sector",
                "of these, what the slices gave: the rest came with another SM's read",
                [](const LaunchView& l) {
                    return l.measured.partition.sectors_to_gpcs -
                           l.measured.partition.sectors_coalesced;
                });
    table.percentage("lockstep__l2_tlb_hit_rate.pct", "translations found in the L2's TLB",
                     partition<&P::tlb_hits>, [](const LaunchView& l) {
                         return l.measured.partition.tlb_hits + l.measured.partition.tlb_misses;
                     });
}

void add_dram(MetricTable& table) {
    const auto bytes = [](const LaunchView& l) {
        return l.measured.partition.dram_bytes_read + l.measured.partition.dram_bytes_written;
    };
    table.count("dram__bytes.sum", "B",
                "that the controllers moved, write-backs in the kernel's time included", bytes);
    table.count("dram__bytes_read.sum", "B", "those that were read",
                partition<&P::dram_bytes_read>);
    table.count("dram__bytes_write.sum", "B", "those that were written",
                partition<&P::dram_bytes_written>);
    table.ratio("dram__bytes.sum.per_second", "B/s", "over `gpu__time_duration.sum`", bytes,
                [](const LaunchView& l) { return l.measured.seconds; });
    table.count(
        "dram__sectors_read.sum", "sector", "of 32 bytes that were read",
        [](const LaunchView& l) { return l.measured.partition.dram_bytes_read / kSectorBytes; });
    table.count(
        "dram__sectors_write.sum", "sector", "of 32 bytes that were written",
        [](const LaunchView& l) { return l.measured.partition.dram_bytes_written / kSectorBytes; });
    table.number("dram__cycles_elapsed.avg.per_second", "Hz", "the memory's clock",
                 [](const LaunchView& l) { return l.peaks.dram_hertz; });
}

}  // namespace

void add_memory_metrics(MetricTable& table) {
    add_l1(table);
    add_gcc(table);
    add_l2(table);
    add_dram(table);
}

double l1_throughput(const LaunchView& launch, double sm_cycles) {
    const MemoryCounters& counted = launch.measured.memory;
    const double replies = static_cast<double>(counted.sectors_to_l2_read * kSectorBytes) /
                           launch.peaks.crossbar_bytes;
    const double requests = static_cast<double>(counted.requests_to_l2_read) +
                            static_cast<double>(counted.sectors_to_l2_write * kSectorBytes) /
                                launch.peaks.crossbar_out_bytes;
    // Nsight Compute's breakdown has the requests that come in (l1tex__lsuin_requests).
    const auto incoming =
        static_cast<double>(
            launch.measured.sm.pipe_instructions[static_cast<std::size_t>(Pipe::kLsu)]) *
        launch.peaks.lsu_interval;
    return percent(std::max({static_cast<double>(counted.data_busy), incoming,
                             static_cast<double>(counted.shared_way_busy),
                             static_cast<double>(counted.tag_busy), replies, requests}),
                   sm_cycles);
}

double l2_busy(const LaunchView& launch) {
    return percent(static_cast<double>(launch.measured.partition.slice_busy),
                   static_cast<double>(launch.measured.cycles * launch.peaks.l2_slices));
}

double l2_throughput(const LaunchView& launch) {
    const double busy = l2_busy(launch);
    if (launch.peaks.l2_sectors == 0) return busy;
    // Atomics take a request's sectors at once.
    return std::min(busy, percent(static_cast<double>(l2_sectors(launch)),
                                  launch.cycles() * launch.peaks.l2_sectors));
}

double dram_throughput(const LaunchView& launch) {
    const auto bytes = static_cast<double>(launch.measured.partition.dram_bytes_read +
                                           launch.measured.partition.dram_bytes_written);
    return percent(bytes, launch.peaks.dram_bytes_per_second * launch.measured.seconds);
}

}  // namespace lockstep::gpu
