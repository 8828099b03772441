// SPDX-License-Identifier: Apache-2.0
// The GPU emulator: computes what a launch computes, fast, without time.
#pragma once

#include <vector>

#include "models/gpu/check/checker.h"
#include "models/gpu/device/gpu_device.h"
#include "models/gpu/execution/cta_storage.h"

namespace lockstep::gpu {

class Emulator : public GpuDevice {
  public:
    Emulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options);

    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override;
    bool free(DevicePointer pointer) override;
    void note_host_write(DevicePointer pointer, std::uint64_t bytes) override;
    void note_transfer(DevicePointer pointer, std::uint64_t bytes, Transfer transfer) override {
        if (transfer == Transfer::kWrite) note_host_write(pointer, bytes);
    }
    LaunchResult launch(const LaunchRequest& request) override { return launch_rest(request, {}); }
    std::uint64_t findings() const override { return checker_ ? checker_->findings() : 0; }

  protected:
    /// Runs the CTAs that are not marked as done (empty: none is; no clusters otherwise).
    LaunchResult launch_rest(const LaunchRequest& request, const std::vector<bool>& done);

  private:
    /// Prints what the checks have found in the launch.
    void report_findings();
    /// Host threads that may run the launch's CTAs at once without any effect on its results.
    unsigned thread_count(const LoadedModule& module, const cubin::Function& kernel,
                          const LaunchRequest& request, std::uint32_t first) const;

    std::unique_ptr<check::Checker> checker_;  ///< where anything is to be checked
    CtaPool ctas_;
};

}  // namespace lockstep::gpu
