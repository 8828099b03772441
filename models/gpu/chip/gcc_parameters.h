// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/config/machine.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

struct GccParameters {
    /// Throws InputError where the numbers do not go together.
    explicit GccParameters(const config::Machine& machine);

    unsigned lines, ways;
    unsigned fetch_lines;                          ///< aligned group that a miss brings
    unsigned interval;                             ///< cycles between two requests
    unsigned sm_requests;                          ///< of one SM at one time
    bool constant_prefetch;                        ///< a launch brings its parameters
    std::uint64_t code_prefetch;                   ///< bytes of a kernel that its launch brings
    engine::Cycle request_latency, reply_latency;  ///< of the ways to an SM
};

}  // namespace lockstep::gpu
