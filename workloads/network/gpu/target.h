// SPDX-License-Identifier: Apache-2.0
// What the compiler must know of a GPU: to choose kernels, and to see whether a network fits.
#pragma once

#include <cstdint>
#include <string>

#include "sim/config/machine.h"

namespace lockstep::network::gpu {

struct Target {
    std::string name;
    int arch = 90;  ///< compute capability, as 75
    std::int64_t sms = 1, sub_cores = 4, warps = 64, ctas = 32, registers = 65536;
    std::int64_t shared_bytes = 0, shared_reserved = 0;  ///< of an SM; of each CTA of it
    double fp32_macs = 0;                                ///< by SM and cycle
    double fp16_macs = 0, tf32_macs = 0, int8_macs = 0;  ///< of an SM's Tensor Cores; 0: none
    double group_fp16_macs = 0, group_int8_macs = 0;     ///< of warpgroups' products; 0: none
    double clock = 0;                                    ///< of the SMs, Hz
    double memory_bandwidth = 0, l2_bandwidth = 0;       ///< bytes by second
    /// Of a kernel: from its begin until its first CTA has code and parameters, and after the last.
    double launch_cycles = 0;
    double memory_latency = 0;  ///< cycles to DRAM and back
    std::uint64_t memory_bytes = 0;
};

/// InternalError where the machine is no GPU.
Target target_of(const config::Machine& machine);

}  // namespace lockstep::network::gpu
