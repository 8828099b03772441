// SPDX-License-Identifier: Apache-2.0
// Copies within device memory and fills of it: how long its DRAM takes for them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "models/gpu/memory/memory_parameters.h"

namespace lockstep::gpu {

/// Runs the traffic of a transfer on one channel's controller: the channels of a linear stream are
/// loaded alike. Long transfers go on at the rate that their first part reaches in the end.
class DeviceTransfers {
  public:
    explicit DeviceTransfers(const MemoryParameters& parameters) : parameters_(parameters) {}

    /// From the first request to the last write's acknowledgement.
    engine::Time copy_time(std::uint64_t bytes) { return time_of(bytes, true); }
    engine::Time fill_time(std::uint64_t bytes) { return time_of(bytes, false); }

  private:
    engine::Time time_of(std::uint64_t bytes, bool is_copy);
    /// Time for so many bursts of one channel to be (read and) written.
    engine::Time run(std::uint64_t bursts, bool is_copy);

    const MemoryParameters& parameters_;
    std::map<std::pair<std::uint64_t, bool>, engine::Time> known_;  ///< by bursts of a channel
};

}  // namespace lockstep::gpu
