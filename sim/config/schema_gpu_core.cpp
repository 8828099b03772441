// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

namespace {

constexpr double kMebi = 1024.0 * 1024;

constexpr Entry kCore[] = {
    {"sub_core.memory_queue", Type::kInteger, "1", 1, 64,
     "memory instructions that a sub-core holds for the memory unit"},
    {"sub_core.memory_issue_latency", Type::kInteger, "1", 1, 60,
     "cycles from issue to the memory unit, address in registers"},
    {"sub_core.memory_issue_latency_uniform", Type::kInteger, "1", 1, 60,
     "likewise, address uniform or in shared memory"},
    {"sub_core.path_slice", Type::kInteger, "1", 1, 1 << 24,
     "instructions after which the paths of a diverged warp take turns"},
    {"sub_core.address_interval", Type::kInteger, "1", 1, 64,
     "cycles between two memory instructions of a sub-core"},
    {"sub_core.arbiter_interval", Type::kInteger, "1", 1, 64,
     "cycles between two memory instructions of the SM"},
    {"sub_core.register_banks", Type::kInteger, "1", 1, 4, "banks of the register file"},
    {"sub_core.read_window", Type::kInteger, "1", 1, 16,
     "cycles in which an instruction reads its registers"},
    {"sub_core.yield_zero_stall", Type::kInteger, "1", 1, 63,
     "cycles that stall count 0 with yield waits"},

    {"pipe.alu.interval", Type::kInteger, "1", 1, 64,
     "cycles between two integer or logic instructions of a sub-core"},
    {"pipe.fma.interval", Type::kInteger, "1", 1, 64, "... two FP32 instructions"},
    {"pipe.imad.interval", Type::kInteger, "1", 1, 64, "... two integer multiplications"},
    {"pipe.fp16.interval", Type::kInteger, "1", 1, 64, "... two packed half instructions"},
    {"pipe.fp64.interval", Type::kInteger, "1", 1, 255, "... two double instructions"},
    {"pipe.fp64.latency", Type::kInteger, "1", 1, 255, "issue to use, where by_counter"},
    {"pipe.fp64.shared", Type::kBoolean, "1", 0, 0, "one FP64 pipe for all sub-cores of the SM"},
    {"pipe.fp64.by_counter", Type::kBoolean, "1", 0, 0, "results are told by a dependence counter"},
    {"pipe.mufu.interval", Type::kInteger, "1", 1, 64, "... two transcendental instructions"},
    {"pipe.mufu.latency", Type::kInteger, "1", 1, 255, "issue to use"},
    {"pipe.bit_count.interval", Type::kInteger, "1", 1, 64, "... two of POPC, FLO, BREV"},
    {"pipe.bit_count.latency", Type::kInteger, "1", 1, 255, "issue to use"},
    {"pipe.conversion.interval", Type::kInteger, "1", 1, 64, "... two conversions of 32 bits"},
    {"pipe.conversion.latency", Type::kInteger, "1", 1, 255, "issue to use"},
    {"pipe.conversion64.interval", Type::kInteger, "1", 1, 64,
     "... two conversions with a 64-bit side"},
    {"pipe.conversion64.latency", Type::kInteger, "1", 1, 255, "issue to use"},
    {"pipe.reduce.interval", Type::kInteger, "1", 1, 64, "... two of REDUX, MATCH"},
    {"pipe.reduce.latency", Type::kInteger, "1", 1, 255, "issue to use"},
    {"pipe.special_register.interval", Type::kInteger, "1", 1, 64,
     "... two of S2R, R2UR and the like"},
    {"pipe.special_register.latency", Type::kInteger, "1", 1, 255, "issue to use"},
    {"pipe.vote.interval", Type::kInteger, "1", 1, 64, "... two votes"},
    {"pipe.uniform.interval", Type::kInteger, "1", 1, 64,
     "... two instructions of the uniform datapath"},
    {"pipe.branch.interval", Type::kInteger, "1", 1, 64, "... two branches"},

    {"tensor_core.macs.fp16", Type::kNumber, "1", 0.01, 65536,
     "multiply-adds of a sub-core in a cycle, fp16 and bf16"},
    {"tensor_core.macs.tf32", Type::kNumber, "1", 0.01, 65536, "likewise, tf32"},
    {"tensor_core.macs.int8", Type::kNumber, "1", 0.01, 65536, "likewise, int8 and fp8"},
    {"tensor_core.macs.int4", Type::kNumber, "1", 0.01, 65536, "likewise, int4"},
    {"tensor_core.macs.b1", Type::kNumber, "1", 0.01, 65536, "likewise, single bits"},
    {"tensor_core.macs.fp64", Type::kNumber, "1", 0.01, 65536, "likewise, double"},
    {"tensor_core.fp32_accumulate_factor", Type::kNumber, "1", 1, 8,
     "times as long with FP32 accumulators"},
    {"tensor_core.dmma_latency", Type::kInteger, "1", 1, 255,
     "issue to use of the smallest double product"},

    {"front_end.line", Type::kInteger, "B", 16, 128, "line of the instruction caches"},
    {"front_end.l0_size", Type::kInteger, "B", 128, kMebi, "instruction cache of a sub-core"},
    {"front_end.l0_ways", Type::kInteger, "1", 1, 1024, "lines of a set"},
    {"front_end.l0_miss_latency", Type::kInteger, "1", 1, 1000, "cycles to fetch a line from L1"},
    {"front_end.l1_size", Type::kInteger, "B", 128, kMebi, "instruction cache of the SM"},
    {"front_end.l1_ways", Type::kInteger, "1", 1, 1024, "lines of a set"},
    {"front_end.prefetch_lines", Type::kInteger, "1", 0, 64,
     "entries of a sub-core's stream buffer"},
    {"front_end.prefetch_interval", Type::kInteger, "1", 1, 64,
     "cycles between two lines from L1 to a sub-core"},
    {"front_end.branch_redirect", Type::kInteger, "1", 0, 60,
     "cycles that a taken branch adds to its stall count"},

    {"constant_cache.line", Type::kInteger, "B", 4, 128, "line of the constant caches"},
    {"constant_cache.l0_size", Type::kInteger, "B", 64, kMebi, "constant operands, by sub-core"},
    {"constant_cache.l0_ways", Type::kInteger, "1", 1, 1024, "lines of a set"},

    {"gcc.latency", Type::kInteger, "1", 2, 1000,
     "cycles that a constant in the cache of the GPC comes later than one in the sub-core's"},
    {"gcc.size", Type::kInteger, "B", 128, kMebi, "cache of a GPC for code and constants (L1.5)"},
    {"gcc.ways", Type::kInteger, "1", 1, 1024, "lines of a set"},
    {"gcc.fetch_granularity", Type::kInteger, "B", 128, 4096, "that a miss brings from L2"},
    {"gcc.interval", Type::kInteger, "1", 1, 64, "cycles between two requests of its SMs"},
    {"gcc.sm_requests", Type::kInteger, "1", 1, 4096, "lines under way to an SM"},

    {"barrier.latency", Type::kInteger, "1", 1, 60,
     "cycles from the last arrival to the warps' next instruction"},
    {"membar.cta_latency", Type::kInteger, "1", 1, 60000, "shortest MEMBAR.CTA"},
    {"membar.gpu_latency", Type::kInteger, "1", 1, 60000, "shortest MEMBAR.GPU"},
    {"membar.sys_latency", Type::kInteger, "1", 1, 60000, "shortest MEMBAR.SYS"},

    {"launch.begin_latency", Type::kInteger, "1", 0, 1000000,
     "cycles from a kernel's launch, as profilers see it, to its first CTA"},
    {"launch.end_latency", Type::kInteger, "1", 0, 1000000,
     "cycles from its last CTA's end to its own"},
    {"launch.cta_interval", Type::kInteger, "1", 1, 10000,
     "cycles between two CTAs that the chip starts"},
    {"launch.cta_latency", Type::kInteger, "1", 1, 100000,
     "cycles from a CTA's end to the start of the next in its place"},
    {"launch.warp_interval", Type::kInteger, "1", 1, 1000,
     "cycles between two warps that an SM starts"},
    {"launch.max_grids", Type::kInteger, "1", 1, 1024, "kernels that the device runs at one time"},
};

}  // namespace

std::span<const Entry> gpu_core() {
    return kCore;
}

}  // namespace lockstep::config
