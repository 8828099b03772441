// SPDX-License-Identifier: Apache-2.0
// The machine file has latencies as they are measured, from the issue of an instruction to that of
// its consumer. What passes in the sub-core before the memory unit sees the instruction is taken
// off here. Measured latencies: Huerta et al., MICRO 2025, and others named in the files.
#include "models/gpu/sm/memory_unit_parameters.h"

#include <bit>
#include <string>

#include "models/gpu/device/parameter_rows.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

MemoryUnitParameters::MemoryUnitParameters(const config::Machine& machine) {
    read_rows(machine, memory_unit_rows(), *this);
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
    for (const MemoryOperationRow& row : kMemoryOperations)
        for (const bool uniform : {false, true})
            timings[static_cast<unsigned>(row.operation)][uniform] = {
                after_arrival(row.result.key, row.result.has_uniform, uniform, row.operation),
                after_arrival(row.sources.key, row.sources.has_uniform, uniform, row.operation)};

    sub_cores = get("sm.sub_cores");
    sms = get("sm.count");
    max_warps = get("sm.max_warps");
    if (machine.integer("l1.size") < machine.integer("shared_memory.size"))
        throw InputError(
            fmt::format("{}: l1.size ({} KiB) is less than shared_memory.size ({} KiB), a part of "
                        "it: set l1.size too",
                        machine.name(), machine.integer("l1.size") / 1024,
                        machine.integer("shared_memory.size") / 1024));
    if (!std::has_single_bit(tags_per_cycle))
        throw InputError(fmt::format("{}: l1.tags_per_cycle: {} is no power of two", machine.name(),
                                     tags_per_cycle));
    if (!std::has_single_bit(page_bytes))
        throw InputError(fmt::format("{}: memory_unit.page_size: {} is no power of two",
                                     machine.name(), page_bytes));
}

}  // namespace lockstep::gpu
