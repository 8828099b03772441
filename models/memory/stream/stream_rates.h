// SPDX-License-Identifier: Apache-2.0
// What a memory system sustains on linear streams.
#pragma once

#include "models/memory/dram/presets.h"

namespace lockstep::memory {

struct StreamRates {
    double read_gb_per_s = 0, write_gb_per_s = 0;
    double read_latency_ns = 0;  ///< of an unloaded request
};

/// Runs one channel's controller on linear streams, longer than several refresh intervals; the
/// channels of a linear stream are loaded alike.
StreamRates measure_streams(const dram::Geometry& geometry);

}  // namespace lockstep::memory
