// SPDX-License-Identifier: Apache-2.0
// The GPU emulator: computes what a launch computes, fast, without time.
#pragma once

#include "models/gpu/gpu_device.h"

namespace lockstep::gpu {

class Emulator : public GpuDevice {
  public:
    using GpuDevice::GpuDevice;

    LaunchResult launch(const LaunchRequest& request) override;

  private:
    /// Host threads that may run the launch's CTAs at once without any effect on its results.
    unsigned thread_count(const LoadedModule& module, const cubin::Function& kernel,
                          const LaunchRequest& request, std::uint32_t first) const;

    CtaPool ctas_;
};

}  // namespace lockstep::gpu
