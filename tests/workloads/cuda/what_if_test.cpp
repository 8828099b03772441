// SPDX-License-Identifier: Apache-2.0
// Parameters of a GPU do something: half and twice its value change the cycles of some small
// kernel, or a launch is refused for it. The chip is small, with small caches and short queues, so
// that small kernels reach their limits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/config/machine.h"
#include "sim/config/schema.h"
#include "sim/error/error.h"
#include "tests/workloads/cuda/recorder.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {
namespace {

const std::vector<std::string> kSmall = {
    "sm.count=4",
    "gpc.count=2",
    "l2.slices=4",
    "dram.bus_width=256",
    "l2.size=128KiB",
    "l2.mshrs=8",
    "l2.write_back_buffer=8",
    "dram.read_queue=8",
    "front_end.l0_size=512",
    "front_end.l0_ways=2",
    "front_end.l1_size=2048",
    "front_end.l1_ways=2",
    "gcc.size=4096",
    "gcc.ways=2",
    "gcc.sm_requests=2",
    "l1.sets=4",
    "l1.miss_entries=8",
    "l1.miss_queue=4",
    "constant_cache.l0_size=64",
    "constant_cache.l0_ways=1",
    "constant_cache.line=32",
    "cluster.channel_messages=2",
    "l1.size=232KiB",
    "tlb.page_size=4096",
    "tlb.l2_entries=4",
    "tlb.l2_ways=2",
    "tlb.walkers=1",
    "memory_unit.tlb_entries=2",
    "memory_unit.page_size=4096",
    "memory_unit.pending_requests=16",
    "memory_unit.tma_map_entries=2",
    "memory_unit.bulk_copy_requests=16",
};

/// What takes long, or needs a larger chip.
const std::set<std::string_view> kLong = {
    "micro_atomic_rate",    "micro_code_walk",  "micro_dram_copy",          "micro_dram_latency",
    "micro_dram_read",      "micro_dram_write", "micro_l2_bandwidth",       "micro_l2_chunks",
    "micro_l2_latency",     "micro_l2_slices",  "micro_l2_write_bandwidth", "micro_launch",
    "micro_reduction_rate", "micro_tlb_latency"};

/// Small kernels, then all microbenchmarks.
std::vector<std::string> all_kernels() {
    std::vector<std::string> list = {"vector_add:n=16384",
                                     "softmax:rows=64,cols=128",
                                     "hgemm:m=64,n=64,k=64",
                                     "histogram:n=16384",
                                     "transpose:rows=64,cols=64",
                                     "igemm:m=64,n=64,k=64",
                                     "reduce_atomic:n=4096",
                                     "stencil_tma:h=64,w=256,stages=4",
                                     "transpose_tma:rows=256,cols=256",
                                     "reduce_cluster:n=4096,cluster=4",
                                     "sgemm_naive:m=64,n=64,k=16"};
    for (const Workload& workload : workloads()) {
        if (!workload.name.starts_with("micro_") || kLong.contains(workload.name)) continue;
        const bool has_warps = parse_parameters(workload, "").contains("warps");
        list.push_back(workload.name + (has_warps ? ":warps=4" : ""));
    }
    return list;
}

/// Where other values than half and twice show it.
const std::map<std::string_view, std::vector<std::string>> kChoices = {
    {"arch", {"80"}},
    {"crossbar.gpc_bandwidth", {"32"}},
    {"l2.coalescer_entries", {"0"}},
    {"l2.coalescer_merge", {"1"}},
    {"dram.standard", {"HBM2e", "HBM3", "GDDR6"}},
    {"gpc.sms", {"0,4"}},
    {"l1.sets", {"232", "928"}},
    {"launch.cta_interval", {"64"}},
    {"pipe.sustained", {"0.75"}},
    {"shared_memory.carve_outs", {"228", "100"}},
    {"shared_memory.reserved_per_cta", {"32768"}},
};

/// What acts only where something else has been chosen.
const std::map<std::string_view, std::string> kOnlyWith = {
    {"sub_core.scheduler_group", "sub_core.scheduler=two_level"},
    {"dram.row_timeout", "dram.row_policy=timeout"},
    {"l2.link_queue", "l2.link_bandwidth=1"},
    {"l1.replacement", "shared_memory.carve_outs=228"},  // leaves 4 KiB of L1
};

/// What no built-in kernel has the code for, or does often enough. Each wants a kernel of its own.
const std::set<std::string_view> kNoKernel = {"tensor_core.macs.int4",
                                              "tensor_core.macs.b1",
                                              "sub_core.path_slice",
                                              "sub_core.yield_zero_stall",
                                              "shared_memory.swap_cycles",
                                              "l1.allocates_stores",
                                              "l1.allocates_local_stores",
                                              "memory_unit.l1_hit_latency_uniform",
                                              "memory_unit.shared_latency_uniform",
                                              "memory_unit.async_copy_latency",
                                              "memory_unit.texture_latency",
                                              "memory_unit.texture_lanes",
                                              "memory_unit.load_read_uniform",
                                              "memory_unit.store_read_uniform",
                                              "memory_unit.shared_store_read_uniform",
                                              "memory_unit.constant_read_uniform",
                                              "mbarrier.try_wait_limit",
                                              "dram.write_queue",
                                              "dram.write_high",
                                              "dram.write_low"};

/// One with two parts of L2 and a recent core, one whose FP64 results are told by a counter.
const char* const kMachines[] = {"h200", "rtx3090"};

using Cycles = std::vector<std::uint64_t>;

/// What a kernel takes on the small chip with a parameter set; nothing where the machine refuses
/// the value itself; no cycles where the launch is refused.
std::optional<Cycles> run(const std::string& on, const std::string& kernel,
                          const std::vector<std::string>& more) {
    std::vector<std::string> sets = kSmall;
    sets.insert(sets.end(), more.begin(), more.end());
    std::shared_ptr<const config::Machine> machine;
    std::unique_ptr<Device> device;
    try {
        machine = config::Machine::load(on, sets);
        device = make_simulator(machine, {});
    } catch (const InputError&) {
        return std::nullopt;
    }
    const WorkloadText text = parse_workload(kernel);
    const Workload& workload = find_workload(text.name);
    Recorder recorder(std::move(device));
    try {
        run_workload(workload, parse_parameters(workload, text.parameters), 3, false, recorder);
    } catch (const Error& error) {
        if (error.status() == ExitStatus::kInternalError) throw;
        return Cycles{};
    }
    return recorder.trace().cycles;
}

/// With nothing else set; known once for all parameters.
const std::optional<Cycles>& unchanged(const std::string& on, const std::string& kernel,
                                       const std::vector<std::string>& with) {
    static std::map<std::tuple<std::string, std::string, std::vector<std::string>>,
                    std::optional<Cycles>>
        known;
    const auto [at, is_new] = known.try_emplace({on, kernel, with});
    if (is_new) at->second = run(on, kernel, with);
    return at->second;
}

std::vector<std::string> values_of(const config::Entry& entry, const std::string& on) {
    if (const auto choices = kChoices.find(entry.path); choices != kChoices.end())
        return choices->second;
    const auto machine = config::Machine::load(on, kSmall);
    if (!entry.choices.empty()) {
        std::vector<std::string> others;
        for (const config::Choice& choice : entry.choices)
            if (choice.name != machine->text(entry.path)) others.emplace_back(choice.name);
        return others;
    }
    if (entry.type == config::Type::kBoolean)
        return {machine->boolean(entry.path) ? "false" : "true"};
    const double value = machine->number(entry.path);
    std::vector<std::string> values;
    for (const double factor : {2.0, 0.5, 0.125, 8.0}) {
        double other = value == 0 ? entry.minimum + 8 * factor : value * factor;
        if (entry.type == config::Type::kInteger) other = std::floor(other);
        if (other < entry.minimum || other > entry.maximum || other == value) continue;
        values.push_back(fmt::format("{}", other));
    }
    return values;
}

bool moves_something(const config::Entry& entry) {
    static const std::vector<std::string> kernels = all_kernels();
    std::vector<std::string> with;
    if (const auto at = kOnlyWith.find(entry.path); at != kOnlyWith.end()) with = {at->second};
    for (const char* on : kMachines)
        for (const std::string& kernel : kernels)
            for (const std::string& value : values_of(entry, on)) {
                std::vector<std::string> sets = with;
                sets.push_back(fmt::format("{}={}", entry.path, value));
                const auto cycles = run(on, kernel, sets);
                if (cycles.has_value() && cycles != unchanged(on, kernel, with)) return true;
            }
    return false;
}

class WhatIf : public testing::TestWithParam<config::Entry> {};

TEST_P(WhatIf, TheParameterMovesSomething) {
    EXPECT_TRUE(moves_something(GetParam()))
        << GetParam().path << " changes no kernel's cycles and is not marked as reporting only";
}

/// What moves the time line of a whole program and no kernel's cycles: tests/models/system.
bool is_of_system(std::string_view path) {
    return path.starts_with("link.") || path.starts_with("host.") || path.starts_with("peer.") ||
           path.starts_with("system.") || path == "launch.max_grids";
}

std::vector<config::Entry> acting() {
    std::vector<config::Entry> entries;
    for (const config::Entry& entry : config::find_kind("gpu")->entries)
        if (!entry.is_reporting_only && !kNoKernel.contains(entry.path) &&
            !is_of_system(entry.path))
            entries.push_back(entry);
    return entries;
}

INSTANTIATE_TEST_SUITE_P(Gpu, WhatIf, testing::ValuesIn(acting()), [](const auto& entry) {
    std::string name(entry.param.path);
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
});

}  // namespace
}  // namespace lockstep::cuda
