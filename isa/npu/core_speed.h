// SPDX-License-Identifier: Apache-2.0
// How fast an NPU is, as far as a compiler compares ways to do the same by it. The exact cycles of
// a command are models/npu/command_time.h's.
#pragma once

#include <cstdint>

namespace lockstep::npu {

struct CoreSpeed {
    std::uint64_t macs = 1;            ///< of a core in a cycle, of 8 bits
    double memory_bytes = 1;           ///< a cycle, of the DRAM's pins
    double memory_latency = 0;         ///< cycles
    double output_values = 1;          ///< a cycle, requantised
    double move_bytes = 1;             ///< a cycle, within the SRAM
    std::uint32_t transfer_setup = 0;  ///< cycles
    std::uint32_t row_granule = 1;     ///< bytes that a row of a transfer is rounded up to
};

}  // namespace lockstep::npu
