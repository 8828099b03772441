// SPDX-License-Identifier: Apache-2.0
// What a workload does to a device, in few numbers.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/device.h"

namespace lockstep::cuda {

/// What a run left behind: the hash of every allocation after every launch, and the counts.
struct Trace {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint64_t> instructions;
    std::vector<std::uint64_t> cycles;
    bool operator==(const Trace&) const = default;
};

/// Hands everything to a device and keeps the trace.
class Recorder : public Device {
  public:
    explicit Recorder(std::unique_ptr<Device> device) : device_(std::move(device)) {}

    const Trace& trace() const { return trace_; }

    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override {
        const DevicePointer pointer = device_->allocate(bytes, kind);
        allocations_[pointer] = bytes;
        return pointer;
    }
    bool free(DevicePointer pointer) override {
        allocations_.erase(pointer);
        return device_->free(pointer);
    }
    LaunchResult launch(const LaunchRequest& request) override {
        const LaunchResult result = device_->launch(request);
        trace_.instructions.push_back(result.warp_instructions);
        trace_.instructions.push_back(result.thread_instructions);
        trace_.cycles.push_back(result.cycles);
        for (const auto& [pointer, bytes] : allocations_)
            trace_.hashes.push_back(hash(pointer, bytes));
        return result;
    }

    const config::Machine& machine() const override { return device_->machine(); }
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
    void set_printf_output(std::function<void(std::string_view)> output) override {
        device_->set_printf_output(std::move(output));
    }
    void set_heap_bytes(std::uint64_t bytes) override { device_->set_heap_bytes(bytes); }
    void set_stack_bytes(std::uint64_t bytes) override { device_->set_stack_bytes(bytes); }

  private:
    /// FNV-1a.
    static std::uint64_t hash(DevicePointer pointer, std::uint64_t bytes) {
        std::uint64_t value = 0xcbf29ce484222325;
        const auto* data = reinterpret_cast<const unsigned char*>(pointer);
        for (std::uint64_t i = 0; i < bytes; ++i) value = (value ^ data[i]) * 0x100000001b3;
        return value;
    }

    std::unique_ptr<Device> device_;
    std::map<DevicePointer, std::uint64_t> allocations_;
    Trace trace_;
};

}  // namespace lockstep::cuda
