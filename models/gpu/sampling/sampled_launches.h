// SPDX-License-Identifier: Apache-2.0
// Launches as much in time as it takes to know theirs, the rest emulated.
#pragma once

#include <memory>
#include <vector>

#include "models/gpu/chip/chip_system.h"
#include "models/gpu/device/running_launch.h"
#include "models/gpu/sampling/chip_part.h"
#include "models/gpu/sampling/residency.h"
#include "models/gpu/sampling/samples.h"
#include "models/launch_ranges.h"

namespace lockstep::gpu {

class SampledLaunches {
  public:
    /// `chips`: what the launches run on, unless parts are allowed. All outlive it.
    SampledLaunches(const config::Machine& machine, const DeviceOptions& options,
                    const memory::DeviceMemory& memory, const ChipSystem& chips,
                    LaunchRunner& runner);

    /// From now on launches may run on a part of the chip.
    void use_parts() { uses_parts_ = true; }
    /// `is_one`: its CTAs run all at once. `ranges`: what it is known to use of memory.
    LaunchResult run(const LaunchRequest& request, bool is_one,
                     const std::vector<MemoryRange>& ranges);
    /// The module's kernels may be others from now on.
    void forget(ModuleHandle module) { samples_.forget(module); }
    /// After a fault.
    void end_part() { part_.reset(); }

  private:
    LaunchResult run_first(const LaunchRequest& request);
    LaunchResult run_waves(const LaunchRequest& request, ChipPart* on,
                           const std::vector<std::uint64_t>& ctas, std::vector<bool>& done);
    LaunchResult completed(const LaunchRequest& request, const LaunchResult& result,
                           std::uint64_t ctas, const std::vector<bool>& done, double error);
    LaunchResult run_whole(const LaunchRequest& request);
    ChipPart* part();

    const config::Machine& machine_;
    const DeviceOptions& options_;
    const memory::DeviceMemory& memory_;
    const ChipSystem& chips_;
    LaunchRunner& runner_;
    Samples samples_;
    Residency residency_;
    ResidentLines resident_;
    bool uses_parts_ = false;
    std::unique_ptr<ChipPart> part_;
};

}  // namespace lockstep::gpu
