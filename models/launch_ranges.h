// SPDX-License-Identifier: Apache-2.0
// What a launch reads and writes, where its caller knows. A device whose L2 outlives launches that
// it does not simulate (sampling) finds out so what such a launch leaves there.
#pragma once

#include <vector>

#include "models/device.h"

namespace lockstep {

struct MemoryRange {
    DevicePointer begin = 0;
    std::uint64_t bytes = 0;
};

/// What a Device may be beside.
class LaunchRanges {
  public:
    virtual ~LaunchRanges() = default;
    /// From now on a launch whose time is sampled may run on a part of the chip: where so many
    /// launches make up a result that their errors offset each other.
    virtual void sample_on_parts() = 0;
    /// Of the next launch, in the order of use.
    virtual void next_launch_uses(std::vector<MemoryRange> ranges) = 0;
};

}  // namespace lockstep
