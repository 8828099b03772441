// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lockstep::gpu {

/// What the SM-to-SM network did for an SM.
struct ClusterCounters {
    std::uint64_t requests = 0;    ///< operations that left, one for each CTA that a warp addresses
    std::uint64_t bytes_sent = 0;  ///< with headers
    std::uint64_t bytes_received = 0;
    std::uint64_t barriers = 0;  ///< releases of the SM's CTAs by barrier.cluster
};

}  // namespace lockstep::gpu
