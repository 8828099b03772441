// SPDX-License-Identifier: Apache-2.0
// The parameters of an SM's memory unit: a row each. Latencies are those of an operation, from
// which MemoryUnitParameters takes off what passes before the unit.
#include "models/gpu/device/parameter_rows.h"

namespace lockstep::gpu {

using config::Row;
using config::Type;

namespace {

constexpr double kTebi = 1024.0 * 1024 * 1024 * 1024;
constexpr double kMaxCycles = 10000;
constexpr double kMostOfSm = 16.0 * 1024 * 1024;

}  // namespace

std::span<const Row<MemoryUnitParameters>> memory_unit_rows() {
    static const std::vector<Row<MemoryUnitParameters>> kRows{
        {"l1.size", &MemoryUnitParameters::l1_bytes, "B", 0, kMostOfSm,
         "L1 cache and shared memory together, by SM"},
        {"sub_core.arbiter_interval", &MemoryUnitParameters::request_interval, "1", 1, 64,
         "cycles between two memory instructions of the SM"},
        {"shared_memory.wavefront_cycles", &MemoryUnitParameters::wavefront_cycles, "cycle", 1, 64,
         "data stage time of one pass over the 32 banks (128 bytes)"},
        {"shared_memory.return_width", &MemoryUnitParameters::shared_return_width, "B", 4, 4096,
         "bytes a cycle that loads from shared memory take back to the registers, all sub-cores "
         "together: a word that all lanes ask for comes back for each"},
        {"shared_memory.atomic_cycles", &MemoryUnitParameters::atomic_cycles, "cycle", 1, 64,
         "data stage time of one pass of a shared memory atomic"},
        Row<MemoryUnitParameters>{"shared_memory.swap_cycles", &MemoryUnitParameters::swap_cycles,
                                  "cycle", 0, 64,
                                  "data stage time of one pass of one that compares and swaps; "
                                  "0: shared_memory.atomic_cycles"}
            .defaults_to("0"),
        {"l1.sets", &MemoryUnitParameters::sets, "1", 1, 4096, "sets of the L1's tags"},
        {"l1.tags_per_cycle", &MemoryUnitParameters::tags_per_cycle, "1", 1, 32,
         "lines looked up in a cycle: banks of the L1's tags"},
        {"l1.tag_interval", &MemoryUnitParameters::tag_interval, "cycle", 1, 64,
         "cycles that an instruction holds the L1's tags at least"},
        {"l1.miss_entries", &MemoryUnitParameters::miss_entries, "1", 1, 65536,
         "lines that the L1 can wait for at a time"},
        {"l1.miss_queue", &MemoryUnitParameters::miss_queue, "1", 1, 4096,
         "requests waiting for the crossbar beyond which the tag stage stands still"},
        {"l1.pass_cycles", &MemoryUnitParameters::pass_cycles, "cycle", 1, 64,
         "data stage time of one pass over the 32 banks for global and local data that conflict; "
         "all data together take no less than shared_memory.wavefront_cycles for 128 bytes"},
        {"l1.replacement", &MemoryUnitParameters::replacement, kReplacementPolicies,
         "which line of a full set makes room"},
        {"l1.return_order", &MemoryUnitParameters::return_order, kReturnOrders,
         "who keeps the order of the tags on the way to the data stage"},
        {"l1.tag_latency", &MemoryUnitParameters::tag_latency, "cycle", 0, kMaxCycles,
         "from an instruction's arrival to its first request to L2; the rest of the hit latency "
         "follows the reply"},
        {"l1.allocates_stores", &MemoryUnitParameters::allocates_stores,
         "global stores bring lines into the L1"},
        {"l1.allocates_local_stores", &MemoryUnitParameters::allocates_local_stores,
         "stores to local memory bring lines into the L1"},
        Row<MemoryUnitParameters>{"l1.merge_idle", &MemoryUnitParameters::merge_idle, "cycle", 0,
                                  kMaxCycles,
                                  "of the tag stage after which stores wait no longer for "
                                  "others to complete them"}
            .defaults_to("24"),
        Row<MemoryUnitParameters>{
            "l1.merge_window", &MemoryUnitParameters::merge_window, "cycle", 0, kMaxCycles,
            "in which at most a store of parts of sectors waits for others of its "
            "warp to complete them"}
            .defaults_to("0"),
        Row<MemoryUnitParameters>{
            "l1.partial_store_passes", &MemoryUnitParameters::partial_store_passes, "1", 1, 16,
            "of a store that writes sectors in part through the data stage, for one of whole ones"}
            .defaults_to("1"),
        {"memory_unit.pending_requests", &MemoryUnitParameters::pending_requests, "1", 1, 65536,
         "loads and atomics between the tags and the data stage at a time"},
        {"memory_unit.data_stage_sms", &MemoryUnitParameters::data_stage_sms, "1", 1, 2,
         "SMs of a TPC that have one data stage in common: what one leaves free is the other's"},
        {"memory_unit.data_queue", &MemoryUnitParameters::data_queue, "cycle", 0, kMaxCycles,
         "work before the data stage with which it takes another instruction"},
        {"memory_unit.return_width", &MemoryUnitParameters::return_width, "B", 4, 1024,
         "bytes a cycle that global data take back to a sub-core"},
        {"memory_unit.l1_hit_latency", Type::kInteger, "cycle", 1, kMaxCycles,
         "LDG of 32 bits that hits: issue to issue of the consumer"},
        {"memory_unit.l1_hit_latency_uniform", Type::kInteger, "cycle", 1, kMaxCycles,
         "LDG of 32 bits that hits, address in a uniform register: issue to issue of the consumer"},
        {"memory_unit.shared_latency", Type::kInteger, "cycle", 1, kMaxCycles,
         "LDS of 32 bits without conflicts: issue to issue of the consumer"},
        {"memory_unit.shared_latency_uniform", Type::kInteger, "cycle", 1, kMaxCycles,
         "LDS of 32 bits without conflicts, address in a uniform register: issue to issue of the "
         "consumer"},
        {"memory_unit.shared_atomic_latency", Type::kInteger, "cycle", 1, kMaxCycles,
         "ATOMS without conflicts: issue to issue of the consumer"},
        {"memory_unit.shuffle_latency", Type::kInteger, "cycle", 1, kMaxCycles,
         "SHFL: issue to issue of the consumer"},
        {"memory_unit.shuffle_interval", &MemoryUnitParameters::shuffle_interval, "cycle", 1, 64,
         "between a SHFL and the next instruction of the SM"},
        {"memory_unit.constant_latency", Type::kInteger, "cycle", 1, kMaxCycles,
         "LDC with an index in a register: issue to issue of the consumer"},
        {"memory_unit.constant_latency_uniform", Type::kInteger, "cycle", 1, kMaxCycles,
         "LDC at a fixed offset: issue to issue of the consumer"},
        {"memory_unit.constant_address_cycles", &MemoryUnitParameters::constant_address_cycles,
         "cycle", 1, 64, "time for each different address of an LDC"},
        Row<MemoryUnitParameters>{"memory_unit.special_register_cycles",
                                  &MemoryUnitParameters::special_register_cycles, "cycle", 1, 64,
                                  "between two S2R of the SM"}
            .defaults_to("1"),
        Row<MemoryUnitParameters>{"memory_unit.special_register_latency", Type::kInteger, "cycle",
                                  1, kMaxCycles, "S2R: issue to issue of the consumer"}
            .defaults_to("25"),
        {"memory_unit.constant_port", &MemoryUnitParameters::constant_port,
         "LDC enters by a port of its own; false: in its turn with loads and stores"},
        {"memory_unit.async_copy_latency", Type::kInteger, "cycle", 1, kMaxCycles,
         "LDGSTS that hits in L1: issue until the data are in shared memory"},
        {"memory_unit.texture_latency", Type::kInteger, "cycle", 1, kMaxCycles,
         "texture fetch that hits in L1: issue to issue of the consumer"},
        {"memory_unit.texture_lanes", &MemoryUnitParameters::texture_lanes, "1", 1, 32,
         "lanes a cycle that the SM's texture units sample, each of up to four texels"},
        {"memory_unit.load_read", Type::kInteger, "cycle", 0, kMaxCycles,
         "LDG: issue until the address registers may be overwritten"},
        {"memory_unit.load_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
         "LDG, address in a uniform register: issue until the register may be overwritten"},
        {"memory_unit.shared_load_read", Type::kInteger, "cycle", 0, kMaxCycles,
         "LDS: issue until the address registers may be overwritten"},
        {"memory_unit.store_read", Type::kInteger, "cycle", 0, kMaxCycles,
         "STG of 32 bits: issue until the sources may be overwritten"},
        {"memory_unit.store_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
         "STG of 32 bits, address in a uniform register: issue until the sources may be "
         "overwritten"},
        {"memory_unit.shared_store_read", Type::kInteger, "cycle", 0, kMaxCycles,
         "STS of 32 bits: issue until the sources may be overwritten"},
        {"memory_unit.shared_store_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
         "STS of 32 bits, address in a uniform register: issue until the sources may be "
         "overwritten"},
        {"memory_unit.constant_read", Type::kInteger, "cycle", 0, kMaxCycles,
         "LDC with an index: issue until the index may be overwritten"},
        {"memory_unit.constant_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
         "LDC at a fixed offset: issue until its registers may be overwritten"},
        {"memory_unit.async_copy_read", Type::kInteger, "cycle", 0, kMaxCycles,
         "LDGSTS: issue until the address registers may be overwritten"},
        {"memory_unit.source_width", &MemoryUnitParameters::source_width, "B", 4, 1024,
         "bytes a cycle that a sub-core's registers give to stores"},
        {"memory_unit.tlb_entries", &MemoryUnitParameters::tlb_entries, "1", 0, 65536,
         "pages that the SM's TLB holds"},
        {"memory_unit.page_size", &MemoryUnitParameters::page_bytes, "B", 4096, kTebi,
         "page that a TLB entry covers"},
        {"memory_unit.bulk_copy_latency", &MemoryUnitParameters::bulk_copy_latency, "cycle", 0,
         kMaxCycles, "UBLKCP: what a copy takes longer than a load"},
        {"memory_unit.multicast_latency", &MemoryUnitParameters::multicast_latency, "cycle", 0,
         kMaxCycles, "what a copy to several CTAs of a cluster takes longer than one to one"},
        {"memory_unit.bulk_copy_requests", &MemoryUnitParameters::bulk_copy_requests, "1", 1, 65536,
         "lines that bulk copies wait for at a time"},
        {"memory_unit.bulk_copy_width", &MemoryUnitParameters::bulk_copy_width, "B", 1, 1024,
         "bytes a cycle that bulk copies ask for"},
        {"memory_unit.tma_map_entries", &MemoryUnitParameters::tma_map_entries, "1", 1, 65536,
         "tensor maps that TMA's cache holds"},
        {"memory_unit.tma_map_latency", &MemoryUnitParameters::tma_map_latency, "cycle", 0,
         kMaxCycles, "from the arrival of a tensor map until its copy's first request"},
        {"memory_unit.tma_copy_interval", &MemoryUnitParameters::tma_copy_interval, "cycle", 1,
         kMaxCycles, "shortest time from one copy's last request to the next copy's first"},
        Row<MemoryUnitParameters>{"ideal.l1", &MemoryUnitParameters::ideal_l1,
                                  "L1 holds every line; accesses that pass it by still do"}
            .defaults_to("false"),
        Row<MemoryUnitParameters>{"ideal.tlb", &MemoryUnitParameters::ideal_tlb,
                                  "the SMs' TLBs hold every page"}
            .defaults_to("false"),
        Row<MemoryUnitParameters>{"tlb.warm", &MemoryUnitParameters::tlb_warm,
                                  "TLBs know the pages that a launch asks for first, as after one "
                                  "before that used the same memory"}
            .defaults_to("true"),
    };
    return kRows;
}

}  // namespace lockstep::gpu
