// SPDX-License-Identifier: Apache-2.0
// The parameters of an SM's core, read once from the machine file.
#pragma once

#include <array>
#include <cstdint>

#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/warp_scheduler/warp_policy.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// What an instruction occupies when it is issued, as far as timing tells instructions apart.
enum class OperationClass : std::uint8_t {
    kAlu,              ///< integer add, logic, shifts, comparisons, moves
    kFma,              ///< FP32
    kImad,             ///< integer multiply(-add), dot products of bytes
    kImadWide,         ///< likewise with a 64-bit product, or its upper half
    kFp16,             ///< packed half
    kFp64,             ///< double
    kMufu,             ///< transcendental functions
    kBitCount,         ///< POPC, FLO, BREV
    kConversion,       ///< F2I, F2F, I2F, FRND with both sides of at most 32 bits
    kConversion64,     ///< ... with a 64-bit side
    kReduce,           ///< REDUX, MATCH
    kSpecialRegister,  ///< R2UR, BAR and the like
    kVote,
    kUniform,
    kBranch,
    kDispatch,  ///< executed by the scheduler: NOP, DEPBAR, ...
    kTensor,
    kMemory,
    kCount
};
inline constexpr unsigned kOperationClasses = static_cast<unsigned>(OperationClass::kCount);

enum class TensorType : std::uint8_t { kFp16, kTf32, kInt8, kInt4, kB1, kFp64, kCount };

struct OperationParameters {
    Pipe pipe = Pipe::kDispatch;
    std::uint8_t interval = 1;  ///< sub-core cycles between two of them
    std::uint16_t latency = 0;  ///< issue to issue of a consumer, where a counter tells
};

struct SmParameters {
    /// Throws InputError where the numbers do not go together.
    explicit SmParameters(const config::Machine& machine);

    unsigned sub_cores, max_warps, max_ctas;
    std::uint32_t registers;  ///< 32-bit ones of an SM
    std::array<OperationParameters, kOperationClasses> operation;
    double match_value_latency;  ///< of each distinct value of MATCH.ANY after the first
    double pipe_sustained;       ///< share of the rate of pipes that are held for several cycles
    bool fp64_is_shared;         ///< one FP64 pipe for all sub-cores
    bool fp64_has_latency;       ///< results by dependence counter
    std::array<double, static_cast<unsigned>(TensorType::kCount)> tensor_macs;
    double fp32_accumulate_factor;
    unsigned dmma_latency;
    /// Multiply-adds of a sub-core in a cycle for warpgroups' products; 0: it has none.
    std::array<double, static_cast<unsigned>(TensorType::kCount)> warpgroup_macs;
    unsigned warpgroup_issue_shared, warpgroup_issue_registers;  ///< A in shared memory; registers
    unsigned warpgroup_latency_shared, warpgroup_latency_registers;
    unsigned warpgroup_queue, warpgroup_buffer;

    unsigned memory_queue;                  ///< instructions a sub-core holds for the memory unit
    unsigned global_queue;                  ///< of these, of local and global memory
    unsigned memory_issue_latency;          ///< issue to arrival, addresses in registers
    unsigned memory_issue_latency_uniform;  ///< ... uniform or immediate addresses, shared memory
    unsigned address_interval;              ///< between two instructions of a sub-core

    WarpPolicy scheduler;
    unsigned scheduler_group;  ///< warps, of WarpPolicy::kTwoLevel

    unsigned path_slice;      ///< instructions until paths take turns
    bool exit_awaits_stores;  ///< to have been performed, not only to have left

    unsigned register_banks, read_window;
    unsigned yield_zero_stall;  ///< cycles that stall 0 with yield waits

    unsigned l0_bytes, l0_ways, l1_bytes, l1_ways, instruction_line;
    unsigned l0_miss_latency, prefetch_lines, prefetch_interval, branch_redirect, bsync_latency;

    bool ideal_instruction_cache;

    unsigned constant_bytes, constant_ways, constant_line;

    unsigned barrier_latency, membar_cta, membar_gpu, membar_sys, membar_interval;
    unsigned mbarrier_latency, mbarrier_interval, try_wait_limit;
    bool has_profiler, prefetches_to_sms;
    unsigned launch_profiler;
    unsigned launch_begin, launch_end, cta_latency, warp_interval;
    double cta_interval;
    double clock_mhz;
};

}  // namespace lockstep::gpu
