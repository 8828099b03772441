// SPDX-License-Identifier: Apache-2.0
// A modelled device that notes what each launch changed in memory, as CudaDevice does on silicon.
#pragma once

#include <memory>
#include <vector>

#include "models/device.h"
#include "validation/measure/allocation_log.h"

namespace lockstep::validation {

struct RecordedLaunch {
    std::string kernel;
    sass::Dim3 grid, block;
    LaunchResult result;
    std::vector<Output> outputs;
};

class RecordingDevice : public Device {
  public:
    explicit RecordingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

    const std::vector<RecordedLaunch>& launches() const { return launches_; }

    const config::Machine& machine() const override { return device_->machine(); }
    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override;
    bool free(DevicePointer pointer) override;
    bool register_host(void* pointer, std::uint64_t bytes) override {
        return device_->register_host(pointer, bytes);
    }
    AllocationInfo find(DevicePointer address) const override { return device_->find(address); }
    std::uint64_t free_bytes() const override { return device_->free_bytes(); }
    std::uint64_t total_bytes() const override { return device_->total_bytes(); }
    ModuleHandle load_module(const cubin::Cubin& cubin) override {
        return device_->load_module(cubin);
    }
    void unload_module(ModuleHandle module) override { device_->unload_module(module); }
    std::pair<DevicePointer, std::uint64_t> find_variable(ModuleHandle module,
                                                          std::string_view name) override {
        return device_->find_variable(module, name);
    }
    const cubin::Function* find_kernel(ModuleHandle module, std::string_view name) override {
        return device_->find_kernel(module, name);
    }
    LaunchResult launch(const LaunchRequest& request) override;
    void set_printf_output(std::function<void(std::string_view)> output) override {
        device_->set_printf_output(std::move(output));
    }
    void set_heap_bytes(std::uint64_t bytes) override { device_->set_heap_bytes(bytes); }
    void set_stack_bytes(std::uint64_t bytes) override { device_->set_stack_bytes(bytes); }

  private:
    std::unique_ptr<Device> device_;
    AllocationLog log_;
    std::vector<RecordedLaunch> launches_;
};

}  // namespace lockstep::validation
