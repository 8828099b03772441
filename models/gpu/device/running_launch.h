// SPDX-License-Identifier: Apache-2.0
// A launch in time, and who runs it.
#pragma once

#include <memory>
#include <vector>

#include "models/gpu/chip/chip.h"
#include "models/gpu/device/gpu_device.h"
#include "models/gpu/device/simulated_environment.h"
#include "models/gpu/emulator/progress.h"
#include "models/timeline.h"

namespace lockstep::gpu {

/// A launch from its preparation to its end.
struct RunningLaunch {
    Chip* chip = nullptr;
    const config::Machine* machine = nullptr;  ///< that the chip is
    WorkId work = 0;
    LaunchRequest request;
    const cubin::Function* kernel = nullptr;
    sass::Launch launch;
    LaunchSpace* space = nullptr;
    KernelRun run;
    Grid* grid = nullptr;
    std::unique_ptr<SimulatedEnvironment> environment;
    std::unique_ptr<Progress> progress;
    bool is_beside_copies = false;
};

struct ChipPart;

/// What can be done with a launch.
class LaunchRunner {
  public:
    /// On the part of a chip; null: on all of it.
    virtual std::unique_ptr<RunningLaunch> set_up(const LaunchRequest& request, ChipPart* part) = 0;
    /// In time, to its end; nothing else runs.
    virtual LaunchResult simulate(RunningLaunch& launch) = 0;
    virtual LaunchResult emulate(const LaunchRequest& request) = 0;
    /// The CTAs that are not marked as done.
    virtual LaunchResult emulate_rest(const LaunchRequest& request,
                                      const std::vector<bool>& done) = 0;

  protected:
    ~LaunchRunner() = default;
};

}  // namespace lockstep::gpu
