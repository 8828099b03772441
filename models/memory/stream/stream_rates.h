// SPDX-License-Identifier: Apache-2.0
// What a memory system sustains on linear streams, alone and side by side.
#pragma once

#include "models/memory/dram/controller.h"

namespace lockstep::memory {

struct StreamRates {
    double read_gb_per_s = 0, write_gb_per_s = 0;  ///< of one stream alone
    double read_latency_ns = 0;                    ///< of an unloaded request
    /// What it costs the bus when the next request is of another stream (rows to be opened, banks
    /// that both want), and when it goes the other way (the bus turns round).
    double jump_ns = 0, turn_ns = 0;
};

/// Runs one channel's controller on linear streams, longer than several refresh intervals; the
/// channels of a linear stream are loaded alike. `chunk`: bytes of a request of the whole memory,
/// after which streams that are served together alternate.
StreamRates measure_streams(const dram::Geometry& geometry,
                            const dram::ControllerParameters& controller, std::uint64_t chunk);
/// With the default policies.
StreamRates measure_streams(const dram::Geometry& geometry, dram::RefreshPolicy refresh,
                            std::uint64_t chunk);

/// With refresh bank by bank where the standard has it, and turns of 64 KiB.
StreamRates measure_streams(const dram::Geometry& geometry);

}  // namespace lockstep::memory
