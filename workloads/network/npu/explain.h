// SPDX-License-Identifier: Apache-2.0
// How a network was compiled for an NPU, and why its array is not fully used.
#pragma once

#include <string>
#include <vector>

#include "workloads/network/npu/compile.h"

namespace lockstep::network {

/// What a step took; cycles of units are summed over the cores.
struct NpuLayerTime {
    std::uint64_t cycles = 0, useful_macs = 0, macs = 0, array_active = 0;
    std::uint64_t decode_stall = 0, output_stall = 0, bank_stall = 0, dma_stall = 0, core_stall = 0,
                  issue_stall = 0, output_busy = 0, core_busy = 0, host_busy = 0;
    std::uint64_t dram_bytes = 0;
};

/// A line a layer: how it is cut, what stays in the SRAM, how its weights are stored; then the
/// program.
std::string npu_schedule_text(const NpuCompiled& compiled);

/// One sentence a shown layer: where the multipliers' cycles went. `times`: as compiled.layers, by
/// step.
std::string explain_npu(const NpuCompiled& compiled, const std::vector<NpuLayerTime>& times,
                        const NpuTarget& target, std::uint64_t multipliers,
                        const std::vector<bool>& shown);

}  // namespace lockstep::network
