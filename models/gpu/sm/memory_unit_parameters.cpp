// SPDX-License-Identifier: Apache-2.0
// The machine file has latencies as they are measured, from the issue of an instruction to that of
// its consumer. What passes in the sub-core before the memory unit sees the instruction is taken
// off here. Measured latencies: Huerta et al., MICRO 2025, and others named in the files.
#include "models/gpu/sm/memory_unit_parameters.h"

#include <bit>
#include <string>

#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

/// Keys in memory_unit of an operation's latencies; "" stands for none. Where the latency for
/// uniform addresses has a key of its own, that is "..._uniform".
struct Keys {
    MemoryOperation operation;
    const char* result;
    bool has_uniform_result;
    const char* sources;
    bool has_uniform_sources;
};

using enum MemoryOperation;
constexpr Keys kKeys[] = {
    {kLoadGlobal, "l1_hit_latency", true, "load_read", true},
    {kLoadLocal, "l1_hit_latency", true, "load_read", true},
    {kAtomicGlobal, "l1_hit_latency", true, "store_read", true},
    {kStoreGlobal, "", false, "store_read", true},
    {kStoreLocal, "", false, "store_read", true},
    {kReductionGlobal, "", false, "store_read", true},
    {kLoadShared, "shared_latency", true, "shared_load_read", false},
    {kLoadMatrix, "shared_latency", true, "shared_load_read", false},
    {kStoreShared, "shared_latency", true, "shared_store_read", true},
    {kStoreMatrix, "shared_latency", true, "shared_store_read", true},
    {kAtomicShared, "shared_atomic_latency", false, "shared_store_read", true},
    {kShuffle, "shuffle_latency", false, "shared_load_read", false},
    {kCopyAsync, "async_copy_latency", false, "async_copy_read", false},
    {kLoadConstant, "constant_latency", true, "constant_read", true},
    {kBulkCopy, "l1_hit_latency", false, "load_read", false},
};

}  // namespace

MemoryUnitParameters::MemoryUnitParameters(const config::Machine& machine) {
    const auto get = [&](const std::string& path) {
        return static_cast<unsigned>(machine.integer(path));
    };
    const auto after_arrival = [&](std::string key, bool has_uniform, bool uniform,
                                   MemoryOperation operation) -> std::uint16_t {
        if (key.empty()) return 0;
        if (uniform && has_uniform) key += "_uniform";
        const unsigned all = get("memory_unit." + key);
        const unsigned before =
            get(uniform || is_shared(operation) ? "sub_core.memory_issue_latency_uniform"
                                                : "sub_core.memory_issue_latency");
        return static_cast<std::uint16_t>(all > before ? all - before : 0);
    };
    for (const Keys& keys : kKeys)
        for (const bool uniform : {false, true})
            timings[static_cast<unsigned>(keys.operation)][uniform] = {
                after_arrival(keys.result, keys.has_uniform_result, uniform, keys.operation),
                after_arrival(keys.sources, keys.has_uniform_sources, uniform, keys.operation)};

    sub_cores = get("sm.sub_cores");
    sms = get("sm.count");
    max_warps = get("sm.max_warps");
    l1_bytes = static_cast<std::uint64_t>(machine.integer("l1.size"));
    if (machine.integer("l1.size") < machine.integer("shared_memory.size"))
        throw InputError(fmt::format("{}: l1.size is less than shared_memory.size, a part of it",
                                     machine.name()));
    sets = get("l1.sets");
    tags_per_cycle = get("l1.tags_per_cycle");
    if (!std::has_single_bit(tags_per_cycle))
        throw InputError(fmt::format("{}: l1.tags_per_cycle: {} is no power of two", machine.name(),
                                     tags_per_cycle));
    miss_entries = get("l1.miss_entries");
    miss_queue = get("l1.miss_queue");
    tag_latency = get("l1.tag_latency");
    allocates_stores = machine.boolean("l1.allocates_stores");
    allocates_local_stores = machine.boolean("l1.allocates_local_stores");
    wavefront_cycles = get("shared_memory.wavefront_cycles");
    atomic_cycles = get("shared_memory.atomic_cycles");
    request_interval = get("sub_core.arbiter_interval");
    shuffle_interval = get("memory_unit.shuffle_interval");
    pending_requests = get("memory_unit.pending_requests");
    data_queue = get("memory_unit.data_queue");
    return_width = get("memory_unit.return_width");
    source_width = get("memory_unit.source_width");
    constant_address_cycles = get("memory_unit.constant_address_cycles");
    tlb_entries = get("memory_unit.tlb_entries");
    page_bytes = static_cast<std::uint64_t>(machine.integer("memory_unit.page_size"));
    if (!std::has_single_bit(page_bytes))
        throw InputError(fmt::format("{}: memory_unit.page_size: {} is no power of two",
                                     machine.name(), page_bytes));
    bulk_copy_latency = get("memory_unit.bulk_copy_latency");
    bulk_copy_requests = get("memory_unit.bulk_copy_requests");
    bulk_copy_width = get("memory_unit.bulk_copy_width");
}

}  // namespace lockstep::gpu
