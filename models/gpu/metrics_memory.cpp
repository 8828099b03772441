// SPDX-License-Identifier: Apache-2.0
// Metrics of the memory side. Nsight Compute tells global from local accesses in L1; the counters
// here do not, so that only the totals bear its names. Atomics pass L1 and are looked up in no
// cache but L2, where they always find their sector or fetch it: they are not part of hit rates.
#include <algorithm>

#include "models/gpu/memory/message.h"
#include "models/gpu/metric_groups.h"

namespace lockstep::gpu {
namespace {

void add_l1(MetricList& list, const MemoryCounters& memory) {
    const std::uint64_t hit = memory.sectors_load_hit + memory.sectors_store_hit;
    const std::uint64_t miss =
        memory.sectors_load_miss + memory.sectors_store - memory.sectors_store_hit;
    list.count("lockstep__l1_requests.sum", memory.requests);
    list.count("lockstep__l1_tag_wavefronts.sum", memory.tag_wavefronts);
    list.count("l1tex__t_sectors.sum", hit + miss + memory.sectors_atomic);
    list.count("l1tex__t_sectors_lookup_hit.sum", hit);
    list.count("l1tex__t_sectors_lookup_miss.sum", miss);
    list.percentage("l1tex__t_sector_hit_rate.pct", hit, hit + miss);
    list.percentage("lockstep__l1_load_sector_hit_rate.pct", memory.sectors_load_hit,
                    memory.sectors_load_hit + memory.sectors_load_miss);
    list.count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
               memory.shared_wavefronts_load);
    list.count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
               memory.shared_wavefronts_store);
    list.count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
               memory.bank_conflicts_load);
    list.count("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
               memory.bank_conflicts_store);
    list.count("l1tex__m_xbar2l1tex_read_sectors.sum", memory.sectors_to_l2_read);
    list.count("l1tex__m_l1tex2xbar_write_sectors.sum", memory.sectors_to_l2_write);
    list.count("lockstep__l1_miss_table_full_cycles.sum", memory.mshr_full);
    list.percentage("lockstep__l1_tlb_hit_rate.pct", memory.tlb_hits,
                    memory.tlb_hits + memory.tlb_misses);
    if (memory.tma_copies == 0) return;
    list.count("lockstep__tma_copies.sum", memory.tma_copies);
    list.count("lockstep__tma_sectors.sum", memory.tma_sectors);
    list.percentage("lockstep__tma_map_hit_rate.pct", memory.tma_maps - memory.tma_map_misses,
                    memory.tma_maps);
}

void add_l2(MetricList& list, const PartitionCounters& partition) {
    const std::uint64_t read = partition.sectors_read_hit + partition.sectors_read_miss;
    const std::uint64_t write = partition.sectors_write_hit + partition.sectors_write_miss;
    // A write needs nothing from DRAM, and Nsight Compute counts every one as a hit (streaming
    // writes show a write hit rate of 100% on hardware: accel-sim/gpgpu-sim_distribution, pull
    // request 141).
    const std::uint64_t atomic_hit = partition.atomics - partition.atomics_miss;
    const std::uint64_t hit = partition.sectors_read_hit + write + atomic_hit;
    const std::uint64_t all = read + write + partition.atomics;
    list.count("lts__t_requests.sum", partition.requests);
    list.count("lts__t_sectors.sum", all);
    list.count("lts__t_sectors_op_read.sum", read);
    list.count("lts__t_sectors_op_write.sum", write);
    list.count("lockstep__l2_atomic_sectors.sum", partition.atomics);
    list.count("lts__t_sectors_lookup_hit.sum", hit);
    list.count("lts__t_sectors_lookup_miss.sum", all - hit);
    list.percentage("lts__t_sector_hit_rate.pct", hit, all);
    list.percentage("lockstep__l2_atomic_sector_hit_rate.pct", atomic_hit, partition.atomics);
    list.percentage("lts__t_sector_op_read_hit_rate.pct", partition.sectors_read_hit, read);
    list.percentage("lts__t_sector_op_write_hit_rate.pct", write, write);
    list.percentage("lockstep__l2_write_sectors_present.pct", partition.sectors_write_hit, write);
    list.count("lockstep__l2_write_backs.sum", partition.write_backs);
    list.count("lockstep__l2_sectors_from_far_partition.sum", partition.sectors_from_far);
    list.count("lockstep__l2_sectors_to_far_partition.sum", partition.sectors_to_far);
    list.percentage("lockstep__l2_tlb_hit_rate.pct", partition.tlb_hits,
                    partition.tlb_hits + partition.tlb_misses);
}

void add_dram(MetricList& list, const Peaks& peaks, const Measurement& measured) {
    const PartitionCounters& partition = measured.partition;
    const std::uint64_t bytes = partition.dram_bytes_read + partition.dram_bytes_written;
    list.count("dram__bytes.sum", bytes);
    list.count("dram__bytes_read.sum", partition.dram_bytes_read);
    list.count("dram__bytes_write.sum", partition.dram_bytes_written);
    list.ratio("dram__bytes.sum.per_second", bytes, measured.seconds);
    list.count("dram__sectors_read.sum", partition.dram_bytes_read / kSectorBytes);
    list.count("dram__sectors_write.sum", partition.dram_bytes_written / kSectorBytes);
    list.number("dram__cycles_elapsed.avg.per_second", peaks.dram_hertz);
}

}  // namespace

void add_memory_metrics(MetricList& list, const Peaks& peaks, const Measurement& measured) {
    add_l1(list, measured.memory);
    const std::uint64_t lines = measured.gcc.hits + measured.gcc.misses;
    list.count("lockstep__gcc_requests.sum", lines);
    list.percentage("lockstep__gcc_hit_rate.pct", measured.gcc.hits, lines);
    add_l2(list, measured.partition);
    add_dram(list, peaks, measured);
}

double l1_throughput(const Peaks& peaks, const Measurement& measured, double sm_cycles) {
    const MemoryCounters& memory = measured.memory;
    const double replies =
        static_cast<double>(memory.sectors_to_l2_read * kSectorBytes) / peaks.crossbar_bytes;
    return percent(std::max({static_cast<double>(memory.data_busy),
                             static_cast<double>(memory.tag_busy), replies}),
                   sm_cycles);
}

double l2_throughput(const Peaks& peaks, const Measurement& measured) {
    return percent(static_cast<double>(measured.partition.slice_busy),
                   static_cast<double>(measured.cycles * peaks.l2_slices));
}

double dram_throughput(const Peaks& peaks, const Measurement& measured) {
    const auto bytes = static_cast<double>(measured.partition.dram_bytes_read +
                                           measured.partition.dram_bytes_written);
    return percent(bytes, peaks.dram_bytes_per_second * measured.seconds);
}

}  // namespace lockstep::gpu
