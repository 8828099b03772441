// SPDX-License-Identifier: Apache-2.0
#include "models/system/system.h"

#include <algorithm>

namespace lockstep::system {

namespace {

/// Simulated picoseconds in which no instruction issues although units are busy, after which the
/// model is treated as in livelock: a hundred times the longest NANOSLEEP.
constexpr engine::Time kLivelock = 100'000'000'000;
constexpr engine::Time kLivelockCycles = 1'000'000;  // at least, on a slow clock

}  // namespace

System::System(const SystemOptions& options)
    : simulation_(
          {.name = options.name,
           .threads = options.threads,
           .names_channels = options.names_channels,
           .shuffle = options.shuffle,
           .livelock_after = std::max(kLivelock, kLivelockCycles * options.slowest_cycle)}) {}

}  // namespace lockstep::system
