// SPDX-License-Identifier: Apache-2.0
// The parameters of an SM's core: a row each.
#include "models/gpu/device/parameter_rows.h"

namespace lockstep::gpu {

using config::Row;
using config::Type;

namespace {

constexpr double kMebi = 1024.0 * 1024;

Row<SmParameters>::Store operation(OperationClass operation, auto OperationParameters::*member,
                                   const char* path) {
    return [=](const config::Machine& machine, SmParameters& into) {
        auto& value = into.operation[static_cast<unsigned>(operation)].*member;
        value = static_cast<std::remove_reference_t<decltype(value)>>(machine.integer(path));
    };
}

/// 0 stands for the interval of other integer multiplications.
void store_wide_interval(const config::Machine& machine, SmParameters& into) {
    const std::int64_t own = machine.integer("pipe.imad_wide.interval");
    into.operation[static_cast<unsigned>(OperationClass::kImadWide)].interval =
        static_cast<std::uint8_t>(own != 0 ? own : machine.integer("pipe.imad.interval"));
}

/// 0 stands for the time that a value holds the pipe.
void store_value_latency(const config::Machine& machine, SmParameters& into) {
    const double own = machine.number("pipe.reduce.value_latency");
    into.match_value_latency =
        own != 0 ? own : static_cast<double>(machine.integer("pipe.reduce.interval"));
}

Row<SmParameters>::Store macs(TensorType type, const char* path) {
    return [=](const config::Machine& machine, SmParameters& into) {
        into.tensor_macs[static_cast<unsigned>(type)] = machine.number(path);
    };
}

Row<SmParameters>::Store warpgroup_macs(TensorType type, const char* path) {
    return [=](const config::Machine& machine, SmParameters& into) {
        into.warpgroup_macs[static_cast<unsigned>(type)] = machine.number(path);
    };
}

}  // namespace

std::span<const Row<SmParameters>> sm_rows() {
    static const std::vector<Row<SmParameters>> kRows{
        {"clock.sm", &SmParameters::clock_mhz, "MHz", 1, 10000, "boost clock of the SMs"},
        {"sm.sub_cores", &SmParameters::sub_cores, "1", 1, 8,
         "sub-cores (warp schedulers) of an SM"},
        {"sm.max_warps", &SmParameters::max_warps, "1", 1, 128, "warps resident on an SM"},
        {"sm.max_ctas", &SmParameters::max_ctas, "1", 1, 64, "CTAs resident on an SM"},
        {"sm.registers", &SmParameters::registers, "1", 1024, 1 << 20, "32-bit registers of an SM"},
        {"sub_core.memory_queue", &SmParameters::memory_queue, "1", 1, 64,
         "memory instructions that a sub-core holds for the memory unit"},
        Row<SmParameters>{"sub_core.global_queue", &SmParameters::global_queue, "1", 1, 64,
                          "of these, instructions of local and global memory"}
            .defaults_to("64"),
        {"sub_core.memory_issue_latency", &SmParameters::memory_issue_latency, "1", 1, 60,
         "cycles from issue to the memory unit, address in registers"},
        {"sub_core.memory_issue_latency_uniform", &SmParameters::memory_issue_latency_uniform, "1",
         1, 60, "cycles from issue to the memory unit, address uniform or in shared memory"},
        {"sub_core.scheduler", &SmParameters::scheduler, kWarpPolicies,
         "which of the warps that can issue does"},
        {"sub_core.scheduler_group", &SmParameters::scheduler_group, "1", 1, 32,
         "warps of a group, where sub_core.scheduler is two_level"},
        {"sub_core.path_slice", &SmParameters::path_slice, "1", 1, 1 << 24,
         "instructions after which the paths of a diverged warp take turns"},
        Row<SmParameters>{"sub_core.exit_awaits_stores", &SmParameters::exit_awaits_stores,
                          "a warp ends when its stores have been performed, not when they have "
                          "left"}
            .defaults_to("true"),
        {"sub_core.address_interval", &SmParameters::address_interval, "1", 1, 64,
         "cycles between two memory instructions of a sub-core"},
        {"sub_core.register_banks", &SmParameters::register_banks, "1", 1, 4,
         "banks of the register file"},
        {"sub_core.read_window", &SmParameters::read_window, "1", 1, 16,
         "cycles in which an instruction reads its registers"},
        {"sub_core.yield_zero_stall", &SmParameters::yield_zero_stall, "1", 1, 63,
         "cycles that stall count 0 with yield waits"},
        {"pipe.alu.interval", Type::kInteger, "1", 1, 64,
         "cycles between two integer or logic instructions of a sub-core",
         operation(OperationClass::kAlu, &OperationParameters::interval, "pipe.alu.interval")},
        {"pipe.fma.interval", Type::kInteger, "1", 1, 64,
         "cycles between two FP32 instructions of a sub-core",
         operation(OperationClass::kFma, &OperationParameters::interval, "pipe.fma.interval")},
        {"pipe.imad.interval", Type::kInteger, "1", 1, 64,
         "cycles between two integer multiplications of a sub-core",
         operation(OperationClass::kImad, &OperationParameters::interval, "pipe.imad.interval")},
        Row<SmParameters>{"pipe.imad_wide.interval", Type::kInteger, "1", 0, 64,
                          "cycles between two integer multiplications of a sub-core that give 64 "
                          "bits or the upper 32; 0: pipe.imad.interval",
                          store_wide_interval}
            .defaults_to("0"),
        Row<SmParameters>{"pipe.sustained", &SmParameters::pipe_sustained, "1", 0.67, 1,
                          "share of their rate that pipes keep up whose instructions hold them for "
                          "several cycles, Tensor Cores apart"}
            .defaults_to("1"),
        {"pipe.fp16.interval", Type::kInteger, "1", 1, 64,
         "cycles between two packed half instructions of a sub-core",
         operation(OperationClass::kFp16, &OperationParameters::interval, "pipe.fp16.interval")},
        {"pipe.fp64.interval", Type::kInteger, "1", 1, 255,
         "cycles between two double instructions of the pipe",
         operation(OperationClass::kFp64, &OperationParameters::interval, "pipe.fp64.interval")},
        {"pipe.fp64.latency", Type::kInteger, "1", 1, 255,
         "cycles from the issue of a double instruction to that of its consumer, where by_counter",
         operation(OperationClass::kFp64, &OperationParameters::latency, "pipe.fp64.latency")},
        {"pipe.fp64.shared", &SmParameters::fp64_is_shared,
         "one FP64 pipe for all sub-cores of the SM"},
        {"pipe.fp64.by_counter", &SmParameters::fp64_has_latency,
         "results of double instructions are told by a dependence counter"},
        {"pipe.mufu.interval", Type::kInteger, "1", 1, 64,
         "cycles between two transcendental instructions of a sub-core",
         operation(OperationClass::kMufu, &OperationParameters::interval, "pipe.mufu.interval")},
        {"pipe.mufu.latency", Type::kInteger, "1", 1, 255,
         "cycles from the issue of a transcendental instruction to that of its consumer",
         operation(OperationClass::kMufu, &OperationParameters::latency, "pipe.mufu.latency")},
        {"pipe.bit_count.interval", Type::kInteger, "1", 1, 64,
         "cycles between two of POPC, FLO, BREV of a sub-core",
         operation(OperationClass::kBitCount, &OperationParameters::interval,
                   "pipe.bit_count.interval")},
        {"pipe.bit_count.latency", Type::kInteger, "1", 1, 255,
         "cycles from the issue of POPC, FLO or BREV to that of its consumer",
         operation(OperationClass::kBitCount, &OperationParameters::latency,
                   "pipe.bit_count.latency")},
        {"pipe.conversion.interval", Type::kInteger, "1", 1, 64,
         "cycles between two conversions of 32 bits of a sub-core",
         operation(OperationClass::kConversion, &OperationParameters::interval,
                   "pipe.conversion.interval")},
        {"pipe.conversion.latency", Type::kInteger, "1", 1, 255,
         "cycles from the issue of a conversion of 32 bits to that of its consumer",
         operation(OperationClass::kConversion, &OperationParameters::latency,
                   "pipe.conversion.latency")},
        {"pipe.conversion64.interval", Type::kInteger, "1", 1, 64,
         "cycles between two conversions with a 64-bit side, of a sub-core or of the FP64 pipe "
         "that "
         "all share",
         operation(OperationClass::kConversion64, &OperationParameters::interval,
                   "pipe.conversion64.interval")},
        {"pipe.conversion64.latency", Type::kInteger, "1", 1, 255,
         "cycles from the issue of a conversion with a 64-bit side to that of its consumer",
         operation(OperationClass::kConversion64, &OperationParameters::latency,
                   "pipe.conversion64.latency")},
        {"pipe.reduce.interval", Type::kInteger, "1", 1, 64,
         "cycles between two of REDUX, MATCH of a sub-core",
         operation(OperationClass::kReduce, &OperationParameters::interval,
                   "pipe.reduce.interval")},
        {"pipe.reduce.latency", Type::kInteger, "1", 1, 255,
         "cycles from the issue of REDUX or MATCH to that of its consumer",
         operation(OperationClass::kReduce, &OperationParameters::latency, "pipe.reduce.latency")},
        Row<SmParameters>{
            "pipe.reduce.value_latency", Type::kNumber, "1", 0, 255,
            "cycles by which each distinct value after the first delays the result of "
            "MATCH.ANY, which holds the pipe once for each; 0: pipe.reduce.interval",
            store_value_latency}
            .defaults_to("0"),
        {"pipe.special_register.interval", Type::kInteger, "1", 1, 64,
         "cycles between two of R2UR, BAR and the like of a sub-core",
         operation(OperationClass::kSpecialRegister, &OperationParameters::interval,
                   "pipe.special_register.interval")},
        {"pipe.special_register.latency", Type::kInteger, "1", 1, 255,
         "cycles from the issue of R2UR and the like to that of its consumer",
         operation(OperationClass::kSpecialRegister, &OperationParameters::latency,
                   "pipe.special_register.latency")},
        {"pipe.vote.interval", Type::kInteger, "1", 1, 64, "cycles between two votes of a sub-core",
         operation(OperationClass::kVote, &OperationParameters::interval, "pipe.vote.interval")},
        {"pipe.uniform.interval", Type::kInteger, "1", 1, 64,
         "cycles between two instructions of the uniform datapath of a sub-core",
         operation(OperationClass::kUniform, &OperationParameters::interval,
                   "pipe.uniform.interval")},
        {"pipe.branch.interval", Type::kInteger, "1", 1, 64,
         "cycles between two branches of a sub-core",
         operation(OperationClass::kBranch, &OperationParameters::interval,
                   "pipe.branch.interval")},
        {"tensor_core.macs.fp16", Type::kNumber, "1", 0.01, 65536,
         "multiply-adds of a sub-core in a cycle, fp16 and bf16",
         macs(TensorType::kFp16, "tensor_core.macs.fp16")},
        {"tensor_core.macs.tf32", Type::kNumber, "1", 0.01, 65536,
         "multiply-adds of a sub-core in a cycle, tf32",
         macs(TensorType::kTf32, "tensor_core.macs.tf32")},
        {"tensor_core.macs.int8", Type::kNumber, "1", 0.01, 65536,
         "multiply-adds of a sub-core in a cycle, int8 and fp8",
         macs(TensorType::kInt8, "tensor_core.macs.int8")},
        {"tensor_core.macs.int4", Type::kNumber, "1", 0.01, 65536,
         "multiply-adds of a sub-core in a cycle, int4",
         macs(TensorType::kInt4, "tensor_core.macs.int4")},
        {"tensor_core.macs.b1", Type::kNumber, "1", 0.01, 65536,
         "multiply-adds of a sub-core in a cycle, single bits",
         macs(TensorType::kB1, "tensor_core.macs.b1")},
        {"tensor_core.macs.fp64", Type::kNumber, "1", 0.01, 65536,
         "multiply-adds of a sub-core in a cycle, double",
         macs(TensorType::kFp64, "tensor_core.macs.fp64")},
        {"tensor_core.fp32_accumulate_factor", &SmParameters::fp32_accumulate_factor, "1", 1, 8,
         "times as long a product takes with FP32 accumulators"},
        {"tensor_core.dmma_latency", &SmParameters::dmma_latency, "1", 1, 255,
         "cycles from the issue of the smallest double product to that of its consumer"},
        {"tensor_core.warpgroup.macs.fp16", Type::kNumber, "1", 0, 65536,
         "multiply-adds of a sub-core in a cycle for warpgroups' products (wgmma; 0: none), fp16 "
         "and bf16",
         warpgroup_macs(TensorType::kFp16, "tensor_core.warpgroup.macs.fp16")},
        {"tensor_core.warpgroup.macs.tf32", Type::kNumber, "1", 0, 65536,
         "multiply-adds of a sub-core in a cycle for warpgroups' products, tf32",
         warpgroup_macs(TensorType::kTf32, "tensor_core.warpgroup.macs.tf32")},
        {"tensor_core.warpgroup.macs.int8", Type::kNumber, "1", 0, 65536,
         "multiply-adds of a sub-core in a cycle for warpgroups' products, int8 and fp8",
         warpgroup_macs(TensorType::kInt8, "tensor_core.warpgroup.macs.int8")},
        {"tensor_core.warpgroup.macs.b1", Type::kNumber, "1", 0, 65536,
         "multiply-adds of a sub-core in a cycle for warpgroups' products, single bits",
         warpgroup_macs(TensorType::kB1, "tensor_core.warpgroup.macs.b1")},
        {"tensor_core.warpgroup.issue_interval_shared", &SmParameters::warpgroup_issue_shared, "1",
         1, 64, "cycles that a warpgroup's product holds issue to its pipe, A in shared memory"},
        {"tensor_core.warpgroup.issue_interval_registers", &SmParameters::warpgroup_issue_registers,
         "1", 1, 64, "cycles that a warpgroup's product holds issue to its pipe, A in registers"},
        {"tensor_core.warpgroup.latency_shared", &SmParameters::warpgroup_latency_shared, "1", 0,
         1000, "cycles from a warpgroup's last multiplication to the results, A in shared memory"},
        {"tensor_core.warpgroup.latency_registers", &SmParameters::warpgroup_latency_registers, "1",
         0, 1000, "cycles from a warpgroup's last multiplication to the results, A in registers"},
        {"tensor_core.warpgroup.queue", &SmParameters::warpgroup_queue, "1", 1, 64,
         "products of warpgroups that an SM has under way"},
        {"tensor_core.warpgroup.buffer", &SmParameters::warpgroup_buffer, "1", 1, 64,
         "slices of 8 columns of B that are read ahead of their multiplication"},
        {"front_end.line", &SmParameters::instruction_line, "B", 16, 128,
         "line of the instruction caches"},
        {"front_end.l0_size", &SmParameters::l0_bytes, "B", 128, kMebi,
         "instruction cache of a sub-core"},
        {"front_end.l0_ways", &SmParameters::l0_ways, "1", 1, 1024,
         "ways of a sub-core's instruction cache"},
        {"front_end.l0_miss_latency", &SmParameters::l0_miss_latency, "1", 1, 1000,
         "cycles to fetch a line from L1"},
        {"front_end.l1_size", &SmParameters::l1_bytes, "B", 128, kMebi,
         "instruction cache of the SM"},
        {"front_end.l1_ways", &SmParameters::l1_ways, "1", 1, 1024,
         "ways of the SM's instruction cache"},
        {"front_end.prefetch_lines", &SmParameters::prefetch_lines, "1", 0, 64,
         "entries of a sub-core's stream buffer"},
        {"front_end.prefetch_interval", &SmParameters::prefetch_interval, "1", 1, 64,
         "cycles between two lines from L1 to a sub-core"},
        {"front_end.branch_redirect", &SmParameters::branch_redirect, "1", 0, 60,
         "cycles that a taken branch adds to its stall count"},
        Row<SmParameters>{"front_end.bsync_latency", &SmParameters::bsync_latency, "1", 0, 60,
                          "cycles that a BSYNC, where paths meet, adds to its stall count"}
            .defaults_to("0"),
        Row<SmParameters>{"ideal.instruction_cache", &SmParameters::ideal_instruction_cache,
                          "sub-cores hold every line of code"}
            .defaults_to("false"),
        {"constant_cache.line", &SmParameters::constant_line, "B", 4, 128,
         "line of the constant caches"},
        {"constant_cache.l0_size", &SmParameters::constant_bytes, "B", 64, kMebi,
         "constant operands, by sub-core"},
        {"constant_cache.l0_ways", &SmParameters::constant_ways, "1", 1, 1024,
         "ways of a sub-core's constant cache"},
        {"barrier.latency", &SmParameters::barrier_latency, "1", 1, 60,
         "cycles from the last arrival to the warps' next instruction"},
        {"membar.cta_latency", &SmParameters::membar_cta, "1", 1, 60000, "shortest MEMBAR.CTA"},
        {"membar.gpu_latency", &SmParameters::membar_gpu, "1", 1, 60000, "shortest MEMBAR.GPU"},
        {"membar.sys_latency", &SmParameters::membar_sys, "1", 1, 60000, "shortest MEMBAR.SYS"},
        Row<SmParameters>{"membar.interval", &SmParameters::membar_interval, "cycle", 0, 1000,
                          "cycles between two MEMBAR.GPU or .SYS of an SM"}
            .defaults_to("0"),
        {"mbarrier.latency", &SmParameters::mbarrier_latency, "cycle", 1, 60000,
         "SYNCS on an mbarrier of the CTA: issue to issue of the consumer"},
        {"mbarrier.interval", &SmParameters::mbarrier_interval, "cycle", 1, 1000,
         "shortest time between two changes of an SM's mbarriers"},
        {"mbarrier.try_wait_limit", &SmParameters::try_wait_limit, "cycle", 1, 1000000000,
         "longest that a try_wait waits for a phase"},
        {"launch.begin_latency", &SmParameters::launch_begin, "1", 0, 1000000,
         "cycles from a kernel's launch, as profilers see it, to its first CTA"},
        {"launch.end_latency", &SmParameters::launch_end, "1", 0, 1000000,
         "cycles from its last CTA's end to its own"},
        Row<SmParameters>{
            "launch.prefetch_to_sms", &SmParameters::prefetches_to_sms,
            "a launch brings its parameters, and code that L2 holds, to the caches of "
            "the SMs, not of the GPCs alone"}
            .defaults_to("false"),
        Row<SmParameters>{"launch.profiler_latency", &SmParameters::launch_profiler, "1", 0,
                          1000000,
                          "cycles that a launch takes longer outside of SMs under Nsight Compute"}
            .defaults_to("0")
            .reporting_only(),
        Row<SmParameters>{"launch.profiler", &SmParameters::has_profiler,
                          "as under Nsight Compute: metrics have what a launch takes longer "
                          "(launch.profiler_latency), and SMs begin with empty caches "
                          "(launch.prefetch_to_sms)"}
            .defaults_to("false"),
        {"launch.cta_interval", &SmParameters::cta_interval, "1", 1, 10000,
         "cycles between two CTAs that the chip starts"},
        {"launch.cta_latency", &SmParameters::cta_latency, "1", 1, 100000,
         "cycles from a CTA's end to the start of the next in its place"},
        {"launch.warp_interval", &SmParameters::warp_interval, "1", 1, 1000,
         "cycles between two warps that an SM starts"},
        {"launch.max_grids", Type::kInteger, "1", 1, 1024,
         "kernels that the device runs at one time"},
    };
    return kRows;
}

}  // namespace lockstep::gpu
