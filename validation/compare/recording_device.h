// SPDX-License-Identifier: Apache-2.0
// A modelled device that notes what each launch changed in memory, as CudaDevice does on silicon.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/forwarding_device.h"
#include "validation/measure/allocation_log.h"

namespace lockstep::validation {

struct RecordedLaunch {
    std::string kernel;
    sass::Dim3 grid, block;
    LaunchResult result;
    std::vector<Output> outputs;
};

class RecordingDevice : public ForwardingDevice {
  public:
    struct Options {
        bool keep_outputs = false;  ///< their bytes too
        /// Each launch runs twice, memory being restored between, by copies within the device as
        /// CudaDevice does it; the second is what counts.
        bool twice = false;
    };
    RecordingDevice(std::unique_ptr<Device> device, const Options& options)
        : ForwardingDevice(std::move(device)), options_(options) {}

    const std::vector<RecordedLaunch>& launches() const { return launches_; }

    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override;
    bool free(DevicePointer pointer) override;
    LaunchResult launch(const LaunchRequest& request) override;

  private:
    void restore();

    Options options_;
    AllocationLog log_;
    std::map<DevicePointer, DevicePointer> backups_;  ///< of what has had to be restored
    std::vector<RecordedLaunch> launches_;
};

}  // namespace lockstep::validation
