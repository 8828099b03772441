// SPDX-License-Identifier: Apache-2.0
// How fast a core is, as far as a compiler compares ways to do the same by it.
#pragma once

#include <cstdint>

namespace lockstep::tpu {

struct CoreSpeed {
    double memory_bytes = 512;    ///< a cycle
    double memory_share = 1;      ///< of that, what streams of reads reach
    double memory_latency = 256;  ///< cycles
    double issue_interval = 1;    ///< cycles
    /// Cycles to make a row of a convolution's windows, where pixels share vector registers.
    double window_row = 0;
    std::uint64_t vector_lanes = 128;
};

}  // namespace lockstep::tpu
