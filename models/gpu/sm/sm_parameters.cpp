// SPDX-License-Identifier: Apache-2.0
// Which keys of the machine file describe the core. The pipe of an operation class is fixed by the
// architecture; intervals and latencies differ by chip.
#include "models/gpu/sm/sm_parameters.h"

#include <string>

#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

struct Description {
    OperationClass operation;
    const char* key;
    Pipe pipe;
    bool has_latency;
};
constexpr Description kOperations[] = {
    {OperationClass::kAlu, "alu", Pipe::kAlu, false},
    {OperationClass::kFma, "fma", Pipe::kFma, false},
    {OperationClass::kImad, "imad", Pipe::kFmaHeavy, false},
    {OperationClass::kFp16, "fp16", Pipe::kFp16, false},
    {OperationClass::kFp64, "fp64", Pipe::kFp64, true},
    {OperationClass::kMufu, "mufu", Pipe::kXu, true},
    {OperationClass::kBitCount, "bit_count", Pipe::kXu, true},
    {OperationClass::kConversion, "conversion", Pipe::kXu, true},
    {OperationClass::kConversion64, "conversion64", Pipe::kXu, true},
    {OperationClass::kReduce, "reduce", Pipe::kXu, true},
    {OperationClass::kSpecialRegister, "special_register", Pipe::kAdu, true},
    {OperationClass::kVote, "vote", Pipe::kAlu, false},
    {OperationClass::kUniform, "uniform", Pipe::kUniform, false},
    {OperationClass::kBranch, "branch", Pipe::kCbu, false},
};

constexpr const char* kTensorKeys[] = {"fp16", "tf32", "int8", "int4", "b1", "fp64"};

}  // namespace

SmParameters::SmParameters(const config::Machine& machine) {
    const auto get = [&](const std::string& path) {
        return static_cast<unsigned>(machine.integer(path));
    };
    sub_cores = get("sm.sub_cores");
    max_warps = get("sm.max_warps");
    max_ctas = get("sm.max_ctas");
    registers = get("sm.registers");
    constexpr unsigned kWarpsOfSubCore = 32;  // sub-cores keep sets of warps as words
    if ((max_warps + sub_cores - 1) / sub_cores > kWarpsOfSubCore)
        throw InputError(
            fmt::format("{}: sm.max_warps: {} warps on {} sub-cores; a sub-core holds at most {}",
                        machine.name(), max_warps, sub_cores, kWarpsOfSubCore));
    clock_mhz = machine.number("clock.sm");

    for (const Description& d : kOperations) {
        OperationParameters& p = operation[static_cast<unsigned>(d.operation)];
        const std::string path = std::string("pipe.") + d.key;
        p.pipe = d.pipe;
        p.interval = static_cast<std::uint8_t>(get(path + ".interval"));
        if (d.has_latency) p.latency = static_cast<std::uint16_t>(get(path + ".latency"));
    }
    operation[static_cast<unsigned>(OperationClass::kDispatch)].pipe = Pipe::kDispatch;
    operation[static_cast<unsigned>(OperationClass::kTensor)].pipe = Pipe::kTensor;
    operation[static_cast<unsigned>(OperationClass::kMemory)].pipe = Pipe::kLsu;
    fp64_is_shared = machine.boolean("pipe.fp64.shared");
    fp64_has_latency = machine.boolean("pipe.fp64.by_counter");
    for (unsigned i = 0; i < tensor_macs.size(); ++i)
        tensor_macs[i] = machine.number(std::string("tensor_core.macs.") + kTensorKeys[i]);
    fp32_accumulate_factor = machine.number("tensor_core.fp32_accumulate_factor");
    dmma_latency = get("tensor_core.dmma_latency");

    memory_queue = get("sub_core.memory_queue");
    memory_issue_latency = get("sub_core.memory_issue_latency");
    memory_issue_latency_uniform = get("sub_core.memory_issue_latency_uniform");
    address_interval = get("sub_core.address_interval");
    path_slice = get("sub_core.path_slice");
    register_banks = get("sub_core.register_banks");
    read_window = get("sub_core.read_window");
    yield_zero_stall = get("sub_core.yield_zero_stall");

    instruction_line = get("front_end.line");
    l0_bytes = get("front_end.l0_size");
    l0_ways = get("front_end.l0_ways");
    l1_bytes = get("front_end.l1_size");
    l1_ways = get("front_end.l1_ways");
    l0_miss_latency = get("front_end.l0_miss_latency");
    prefetch_lines = get("front_end.prefetch_lines");
    prefetch_interval = get("front_end.prefetch_interval");
    branch_redirect = get("front_end.branch_redirect");

    constant_line = get("constant_cache.line");
    constant_bytes = get("constant_cache.l0_size");
    constant_ways = get("constant_cache.l0_ways");

    barrier_latency = get("barrier.latency");
    membar_cta = get("membar.cta_latency");
    membar_gpu = get("membar.gpu_latency");
    membar_sys = get("membar.sys_latency");
    launch_begin = get("launch.begin_latency");
    launch_end = get("launch.end_latency");
    cta_interval = get("launch.cta_interval");
    cta_latency = get("launch.cta_latency");
    warp_interval = get("launch.warp_interval");
}

}  // namespace lockstep::gpu
