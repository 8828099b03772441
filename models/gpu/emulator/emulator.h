// SPDX-License-Identifier: Apache-2.0
// The GPU emulator: computes what a launch computes, fast, without time.
#pragma once

#include <map>
#include <memory>

#include "models/device.h"
#include "models/gpu/emulator/system_calls.h"
#include "models/gpu/launch.h"
#include "models/gpu/module.h"
#include "models/memory/global_memory.h"

namespace lockstep::gpu {

class Emulator : public Device {
  public:
    Emulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options);

    const config::Machine& machine() const override { return *machine_; }
    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override;
    bool free(DevicePointer pointer) override;
    bool register_host(void* pointer, std::uint64_t bytes) override;
    AllocationInfo find(DevicePointer address) const override;
    std::uint64_t free_bytes() const override { return memory_.free_bytes(); }
    std::uint64_t total_bytes() const override { return memory_.total_bytes(); }
    ModuleHandle load_module(const cubin::Cubin& cubin) override;
    void unload_module(ModuleHandle module) override { modules_.erase(module); }
    std::pair<DevicePointer, std::uint64_t> find_variable(ModuleHandle module,
                                                          std::string_view name) override;
    const cubin::Function* find_kernel(ModuleHandle module, std::string_view name) override;
    LaunchResult launch(const LaunchRequest& request) override;
    void set_printf_output(std::function<void(std::string_view)> output) override;
    void set_heap_bytes(std::uint64_t bytes) override;
    void set_stack_bytes(std::uint64_t bytes) override { stack_bytes_ = bytes; }

  private:
    struct LoadedModule {
        std::unique_ptr<Module> module;
        LiteralTable literals;
    };
    LoadedModule& loaded(ModuleHandle handle);
    /// Host threads that may run the launch's CTAs at once without any effect on its results.
    unsigned thread_count(const LoadedModule& module, const cubin::Function& kernel,
                          const LaunchRequest& request, std::uint32_t first) const;

    std::shared_ptr<const config::Machine> machine_;
    DeviceOptions options_;
    memory::DeviceMemory memory_;
    SystemCalls system_calls_;
    std::map<ModuleHandle, LoadedModule> modules_;
    ModuleHandle next_module_ = 1;
    std::uint64_t launches_ = 0;
    std::uint64_t stack_bytes_ = 1024;  ///< CUDA's default cudaLimitStackSize
    DevicePointer bank0_ = 0;           ///< where constant bank 0 of the running launch lies
    DevicePointer grid_workspace_ = 0;
};

}  // namespace lockstep::gpu
