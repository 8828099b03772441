// SPDX-License-Identifier: Apache-2.0
// A device that executes nothing: it remembers launches and does to memory what it is told.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "models/device.h"

namespace lockstep {

class FakeDevice : public Device {
  public:
    struct Launch {
        std::string kernel;
        sass::Dim3 grid, block;
        std::uint32_t shared = 0;
        bool cooperative = false;
        std::vector<std::byte> parameters;
        sass::Dim3 cluster;
    };

    explicit FakeDevice(std::shared_ptr<const config::Machine> machine)
        : machine_(std::move(machine)) {}
    ~FakeDevice() override {
        for (auto& [begin, block] : blocks_)
            if (block.info.kind != MemoryKind::kRegisteredHost) std::free(block.memory);
    }

    const config::Machine& machine() const override { return *machine_; }
    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override {
        if (bytes > kTotal - used_) return 0;
        void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
        std::memset(memory, 0, bytes);
        used_ += bytes;
        const auto begin = reinterpret_cast<DevicePointer>(memory);
        blocks_[begin] = {memory, {begin, bytes, kind}};
        return begin;
    }
    bool free(DevicePointer pointer) override {
        const auto block = blocks_.find(pointer);
        if (block == blocks_.end()) return false;
        if (block->second.info.kind != MemoryKind::kRegisteredHost) {
            std::free(block->second.memory);
            used_ -= block->second.info.bytes;
        }
        blocks_.erase(block);
        return true;
    }
    bool register_host(void* pointer, std::uint64_t bytes) override {
        const auto begin = reinterpret_cast<DevicePointer>(pointer);
        blocks_[begin] = {pointer, {begin, bytes, MemoryKind::kRegisteredHost}};
        return true;
    }
    AllocationInfo find(DevicePointer address) const override {
        auto block = blocks_.upper_bound(address);
        if (block == blocks_.begin()) return {};
        const AllocationInfo& info = (--block)->second.info;
        return address - info.begin < info.bytes ? info : AllocationInfo{};
    }
    std::uint64_t free_bytes() const override { return kTotal - used_; }
    std::uint64_t total_bytes() const override { return kTotal; }
    ModuleHandle load_module(const cubin::Cubin& cubin) override {
        modules_.push_back(cubin);
        return static_cast<ModuleHandle>(modules_.size());
    }
    void unload_module(ModuleHandle) override { ++unloaded; }
    std::pair<DevicePointer, std::uint64_t> find_variable(ModuleHandle, std::string_view) override {
        return {0, 0};
    }
    const cubin::Function* find_kernel(ModuleHandle module, std::string_view name) override {
        return modules_[module - 1].find_function(name);
    }
    LaunchResult launch(const LaunchRequest& request) override {
        launches.push_back({request.kernel,
                            request.grid,
                            request.block,
                            request.dynamic_shared_bytes,
                            request.cooperative,
                            {request.parameters.begin(), request.parameters.end()},
                            request.cluster});
        if (on_launch) on_launch(request);
        return {.warp_instructions = 1000, .thread_instructions = 32000};
    }
    void set_printf_output(std::function<void(std::string_view)>) override {}
    void set_heap_bytes(std::uint64_t bytes) override { heap_bytes = bytes; }
    void set_stack_bytes(std::uint64_t bytes) override { stack_bytes = bytes; }

    std::vector<Launch> launches;
    std::function<void(const LaunchRequest&)> on_launch;
    std::uint64_t heap_bytes = 0, stack_bytes = 0;
    int unloaded = 0;

  private:
    static constexpr std::uint64_t kTotal = 1 << 30;
    struct Block {
        void* memory;
        AllocationInfo info;
    };
    std::shared_ptr<const config::Machine> machine_;
    std::map<DevicePointer, Block> blocks_;
    std::vector<cubin::Cubin> modules_;
    std::uint64_t used_ = 0;
};

}  // namespace lockstep
