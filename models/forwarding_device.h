// SPDX-License-Identifier: Apache-2.0
// A device that hands everything to another: what watches a device derives from it.
#pragma once

#include <memory>
#include <utility>

#include "models/device.h"

namespace lockstep {

class ForwardingDevice : public Device {
  public:
    explicit ForwardingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

    const config::Machine& machine() const override { return device_->machine(); }
    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override {
        return device_->allocate(bytes, kind);
    }
    bool free(DevicePointer pointer) override { return device_->free(pointer); }
    bool clear(DevicePointer begin, std::uint64_t bytes) override {
        return device_->clear(begin, bytes);
    }
    std::uint32_t add_texture(sass::Texture texture) override {
        return device_->add_texture(std::move(texture));
    }
    bool register_host(void* pointer, std::uint64_t bytes) override {
        return device_->register_host(pointer, bytes);
    }
    void note_host_write(DevicePointer pointer, std::uint64_t bytes) override {
        device_->note_host_write(pointer, bytes);
    }
    void note_transfer(DevicePointer pointer, std::uint64_t bytes, Transfer transfer) override {
        device_->note_transfer(pointer, bytes, transfer);
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
    std::uint64_t active_clusters(std::uint32_t ctas, std::uint32_t by_sm) const override {
        return device_->active_clusters(ctas, by_sm);
    }
    LaunchResult launch(const LaunchRequest& request) override { return device_->launch(request); }
    Timeline* timeline() override { return device_->timeline(); }
    void set_printf_output(std::function<void(std::string_view)> output) override {
        device_->set_printf_output(std::move(output));
    }
    void set_heap_bytes(std::uint64_t bytes) override { device_->set_heap_bytes(bytes); }
    void set_stack_bytes(std::uint64_t bytes) override { device_->set_stack_bytes(bytes); }

  protected:
    Device& device() { return *device_; }

  private:
    std::unique_ptr<Device> device_;
};

}  // namespace lockstep
