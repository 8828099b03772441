// SPDX-License-Identifier: Apache-2.0
// How fast a core is, as far as a compiler compares ways to do the same by it.
#pragma once

#include <cstdint>

namespace lockstep::tpu {

struct CoreSpeed {
    double memory_bytes = 512;                   ///< a cycle
    double read_bytes = 512, write_bytes = 512;  ///< of that, what one stream reaches
    double memory_latency = 256;                 ///< cycles
    /// Cycles of the bus for a request that goes on elsewhere, and for one that shares it with the
    /// other direction.
    double memory_jump = 0, memory_turn = 0;
    std::uint64_t memory_granule = 1;    ///< bytes; a row of a transfer moves whole ones
    std::uint64_t dma_chunk = 64 << 10;  ///< bytes of a request
    std::uint64_t dma_outstanding = 4;   ///< chunks of a queue that are under way
    double dma_setup = 0, issue_interval = 1, vector_latency = 0;  ///< cycles
    /// Cycles to make a row of a convolution's windows, where pixels share vector registers.
    double window_row = 0;
    std::uint64_t vector_lanes = 128;
};

}  // namespace lockstep::tpu
