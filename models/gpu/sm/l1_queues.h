// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace lockstep::gpu {

/// How full the L1 is.
struct L1Queues {
    std::size_t data = 0;      ///< requests between the tags and the data
    std::size_t misses = 0;    ///< lines that L2 was asked for
    std::size_t crossbar = 0;  ///< requests that wait for the crossbar
};

}  // namespace lockstep::gpu
