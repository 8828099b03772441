// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

namespace {

constexpr double kTebi = 1024.0 * 1024 * 1024 * 1024;
constexpr double kMaxCycles = 10000;

constexpr Entry kMemoryUnit[] = {
    {"shared_memory.wavefront_cycles", Type::kInteger, "cycle", 1, 64,
     "data stage time of one pass over the 32 banks (128 bytes)"},
    {"shared_memory.atomic_cycles", Type::kInteger, "cycle", 1, 64,
     "data stage time of one pass of a shared memory atomic"},
    {"l1.sets", Type::kInteger, "1", 1, 4096, "sets of the L1's tags"},
    {"l1.tags_per_cycle", Type::kInteger, "1", 1, 32,
     "lines looked up in a cycle: banks of the L1's tags"},
    {"l1.miss_entries", Type::kInteger, "1", 1, 65536, "lines that the L1 can wait for at a time"},
    {"l1.miss_queue", Type::kInteger, "1", 1, 4096,
     "requests waiting for the crossbar beyond which the tag stage stands still"},
    {"l1.tag_latency", Type::kInteger, "cycle", 0, kMaxCycles,
     "from an instruction's arrival to its first request to L2; the rest of the hit latency "
     "follows the reply"},
    {"l1.allocates_stores", Type::kBoolean, "1", 0, 0, "global stores bring lines into the L1"},
    {"l1.allocates_local_stores", Type::kBoolean, "1", 0, 0,
     "stores to local memory bring lines into the L1"},
    {"memory_unit.pending_requests", Type::kInteger, "1", 1, 65536,
     "loads and atomics that wait for L2 at a time"},
    {"memory_unit.data_queue", Type::kInteger, "cycle", 0, kMaxCycles,
     "work that may wait for the data stage while the next instruction enters"},
    {"memory_unit.return_width", Type::kInteger, "B", 4, 1024,
     "bytes a cycle that global data take back to a sub-core"},
    {"memory_unit.l1_hit_latency", Type::kInteger, "cycle", 1, kMaxCycles,
     "LDG of 32 bits that hits: issue to issue of the consumer"},
    {"memory_unit.l1_hit_latency_uniform", Type::kInteger, "cycle", 1, kMaxCycles,
     "likewise, address in a uniform register"},
    {"memory_unit.shared_latency", Type::kInteger, "cycle", 1, kMaxCycles,
     "LDS of 32 bits without conflicts: issue to issue of the consumer"},
    {"memory_unit.shared_latency_uniform", Type::kInteger, "cycle", 1, kMaxCycles,
     "likewise, address in a uniform register"},
    {"memory_unit.shared_atomic_latency", Type::kInteger, "cycle", 1, kMaxCycles,
     "ATOMS without conflicts: issue to issue of the consumer"},
    {"memory_unit.shuffle_latency", Type::kInteger, "cycle", 1, kMaxCycles,
     "SHFL: issue to issue of the consumer"},
    {"memory_unit.shuffle_interval", Type::kInteger, "cycle", 1, 64,
     "between a SHFL and the next instruction of the SM"},
    {"memory_unit.constant_latency", Type::kInteger, "cycle", 1, kMaxCycles,
     "LDC with an index in a register: issue to issue of the consumer"},
    {"memory_unit.constant_latency_uniform", Type::kInteger, "cycle", 1, kMaxCycles,
     "LDC at a fixed offset: likewise"},
    {"memory_unit.constant_address_cycles", Type::kInteger, "cycle", 1, 64,
     "time for each different address of an LDC"},
    {"memory_unit.async_copy_latency", Type::kInteger, "cycle", 1, kMaxCycles,
     "LDGSTS that hits in L1: issue until the data are in shared memory"},
    {"memory_unit.load_read", Type::kInteger, "cycle", 0, kMaxCycles,
     "LDG: issue until the address registers may be overwritten"},
    {"memory_unit.load_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
     "likewise, address in a uniform register"},
    {"memory_unit.shared_load_read", Type::kInteger, "cycle", 0, kMaxCycles,
     "LDS: issue until the address registers may be overwritten"},
    {"memory_unit.store_read", Type::kInteger, "cycle", 0, kMaxCycles,
     "STG of 32 bits: issue until the sources may be overwritten"},
    {"memory_unit.store_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
     "likewise, address in a uniform register"},
    {"memory_unit.shared_store_read", Type::kInteger, "cycle", 0, kMaxCycles,
     "STS of 32 bits: issue until the sources may be overwritten"},
    {"memory_unit.shared_store_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
     "likewise, address in a uniform register"},
    {"memory_unit.constant_read", Type::kInteger, "cycle", 0, kMaxCycles,
     "LDC with an index: issue until the index may be overwritten"},
    {"memory_unit.constant_read_uniform", Type::kInteger, "cycle", 0, kMaxCycles,
     "LDC at a fixed offset: likewise"},
    {"memory_unit.async_copy_read", Type::kInteger, "cycle", 0, kMaxCycles,
     "LDGSTS: issue until the address registers may be overwritten"},
    {"memory_unit.source_width", Type::kInteger, "B", 4, 1024,
     "bytes a cycle that a sub-core's registers give to stores"},
    {"memory_unit.tlb_entries", Type::kInteger, "1", 0, 65536, "pages that the SM's TLB holds"},
    {"memory_unit.page_size", Type::kInteger, "B", 4096, kTebi, "page that a TLB entry covers"},
    {"memory_unit.bulk_copy_latency", Type::kInteger, "cycle", 0, kMaxCycles,
     "UBLKCP: what a copy takes longer than a load"},
    {"memory_unit.bulk_copy_requests", Type::kInteger, "1", 1, 65536,
     "lines that bulk copies wait for at a time"},
    {"memory_unit.bulk_copy_width", Type::kInteger, "B", 1, 1024,
     "bytes a cycle that bulk copies ask for"},
};

}  // namespace

std::span<const Entry> gpu_memory_unit() {
    return kMemoryUnit;
}

}  // namespace lockstep::config
