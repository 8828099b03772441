// SPDX-License-Identifier: Apache-2.0
// What every modelled GPU does the same way, whether it has time or not: memory, modules, and the
// preparation of a launch.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/device.h"
#include "models/gpu/device/constant_bank.h"
#include "models/gpu/device/module.h"
#include "models/gpu/execution/system_calls.h"
#include "models/memory/global_memory.h"
#include "models/memory/mapped_memory.h"

namespace lockstep::gpu {

/// What a launch has for itself as long as it runs.
struct LaunchSpace {
    DevicePointer bank0 = 0;  ///< where constant bank 0 lies
    DevicePointer grid_workspace = 0;
    std::map<ModuleHandle, LiteralTable> literals;
    bool is_used = false;
};

class GpuDevice : public Device {
  public:
    GpuDevice(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options);

    const config::Machine& machine() const override { return *machine_; }
    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override;
    bool free(DevicePointer pointer) override;
    bool clear(DevicePointer begin, std::uint64_t bytes) override {
        return memory_.clear(begin, bytes);
    }
    bool register_host(void* pointer, std::uint64_t bytes) override;
    std::uint32_t add_texture(sass::Texture texture) override {
        return textures_.add(std::move(texture));
    }
    AllocationInfo find(DevicePointer address) const override;
    std::uint64_t free_bytes() const override { return memory_.free_bytes(); }
    std::uint64_t total_bytes() const override { return memory_.total_bytes(); }
    ModuleHandle load_module(const cubin::Cubin& cubin) override;
    void unload_module(ModuleHandle module) override;
    std::pair<DevicePointer, std::uint64_t> find_variable(ModuleHandle module,
                                                          std::string_view name) override;
    std::uint64_t active_clusters(std::uint32_t ctas, std::uint32_t by_sm) const override;
    const cubin::Function* find_kernel(ModuleHandle module, std::string_view name) override;
    void set_printf_output(std::function<void(std::string_view)> output) override;
    void set_heap_bytes(std::uint64_t bytes) override;
    void set_stack_bytes(std::uint64_t bytes) override { stack_bytes_ = bytes; }

    AddressSpace* address_space() override { return &mapped_memory_; }

    memory::DeviceMemory& memory() { return memory_; }

  protected:
    struct LoadedModule {
        std::unique_ptr<Module> module;
    };
    LoadedModule& loaded(ModuleHandle handle);
    /// Checks the request and fills everything of the launch but its environment; constant bank 0
    /// is written. Throws LaunchRefused.
    const cubin::Function& prepare(const LaunchRequest& request, sass::Launch& launch,
                                   LaunchSpace& space);
    /// One that no launch uses (the same until it is marked as used); throws LaunchRefused where
    /// device memory is exhausted.
    LaunchSpace& free_space();
    /// CTAs of the kernel that one SM holds at once; at least 1 where the request was accepted.
    std::uint32_t resident_by_sm(const cubin::Function& kernel, const LaunchRequest& request) const;

    std::shared_ptr<const config::Machine> machine_;
    DeviceOptions options_;
    memory::DeviceMemory memory_;
    memory::MappedMemory mapped_memory_{memory_};
    SystemCalls system_calls_;

  private:
    std::map<ModuleHandle, LoadedModule> modules_;
    sass::TextureTable textures_;
    ModuleHandle next_module_ = 1;
    std::uint64_t launches_ = 0;
    std::uint64_t stack_bytes_ = 1024;  ///< CUDA's default cudaLimitStackSize
    std::vector<std::unique_ptr<LaunchSpace>> spaces_;
};

}  // namespace lockstep::gpu
