// SPDX-License-Identifier: Apache-2.0
// Constant bank 0 and the workspace of grid-wide synchronisation lie in device memory, where the
// driver keeps them too: a kernel may take the address of its parameters.
#include "models/gpu/device/gpu_device.h"

#include <algorithm>
#include <cstring>

#include "isa/cubin/demangle.h"
#include "models/gpu/chip/gpc_map.h"
#include "models/gpu/device/launch_check.h"
#include "models/gpu/device/occupancy.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint64_t kBank0Bytes = 64 * 1024;
constexpr std::uint64_t kGridWorkspaceBytes = 4096;

memory::Kind memory_kind(MemoryKind kind) {
    return static_cast<memory::Kind>(kind);
}

}  // namespace

GpuDevice::GpuDevice(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options)
    : machine_(std::move(machine)),
      options_(options),
      memory_(static_cast<std::uint64_t>(machine_->integer("dram.size"))),
      system_calls_(memory_) {
    free_space();
    if (options_.bounds == Bounds::kPage) memory_.find_by_page();
}

LaunchSpace& GpuDevice::free_space() {
    for (const std::unique_ptr<LaunchSpace>& space : spaces_)
        if (!space->is_used) return *space;
    auto space = std::make_unique<LaunchSpace>();
    space->bank0 = memory_.allocate(kBank0Bytes);
    space->grid_workspace = memory_.allocate(kGridWorkspaceBytes);
    if (space->bank0 == 0 || space->grid_workspace == 0)
        throw LaunchRefused(LaunchRefused::Reason::kOutOfResources,
                            "no device memory is left for a launch's parameters");
    return *spaces_.emplace_back(std::move(space));
}

void GpuDevice::unload_module(ModuleHandle module) {
    for (const std::unique_ptr<LaunchSpace>& space : spaces_) space->literals.erase(module);
    modules_.erase(module);
}

DevicePointer GpuDevice::allocate(std::uint64_t bytes, MemoryKind kind) {
    return memory_.allocate(bytes, memory_kind(kind));
}

bool GpuDevice::free(DevicePointer pointer) {
    return memory_.free(pointer);
}

bool GpuDevice::register_host(void* pointer, std::uint64_t bytes) {
    return memory_.register_host(pointer, bytes);
}

AllocationInfo GpuDevice::find(DevicePointer address) const {
    const memory::Allocation allocation = memory_.allocation(address);
    return {allocation.begin, allocation.bytes, static_cast<MemoryKind>(allocation.kind)};
}

ModuleHandle GpuDevice::load_module(const cubin::Cubin& cubin) {
    const ModuleHandle handle = next_module_++;
    auto module = std::make_unique<Module>(cubin, memory_);
    modules_[handle].module = std::move(module);
    return handle;
}

GpuDevice::LoadedModule& GpuDevice::loaded(ModuleHandle handle) {
    const auto it = modules_.find(handle);
    LOCKSTEP_CHECK(it != modules_.end(), "module {} is not loaded", handle);
    return it->second;
}

std::pair<DevicePointer, std::uint64_t> GpuDevice::find_variable(ModuleHandle module,
                                                                 std::string_view name) {
    return loaded(module).module->find_variable(name);
}

const cubin::Function* GpuDevice::find_kernel(ModuleHandle module, std::string_view name) {
    return loaded(module).module->find_kernel(name);
}

void GpuDevice::set_printf_output(std::function<void(std::string_view)> output) {
    system_calls_.set_output(std::move(output));
}

void GpuDevice::set_heap_bytes(std::uint64_t bytes) {
    system_calls_.set_heap_bytes(bytes);
}

const cubin::Function& GpuDevice::prepare(const LaunchRequest& request, sass::Launch& launch,
                                          LaunchSpace& space) {
    LoadedModule& loaded_module = loaded(request.module);
    Module& module = *loaded_module.module;
    const cubin::Function* kernel = module.find_kernel(request.kernel);
    if (kernel == nullptr)
        throw LaunchRefused(LaunchRefused::Reason::kNoKernel,
                            fmt::format("no kernel named {}", cubin::demangled(request.kernel)));
    check_launch(*machine_, *kernel, request);

    launch.program = &module.bind(*kernel, launch.entry);
    launch.memory = &memory_;
    launch.textures = &textures_;
    launch.arch = launch.program->arch();
    launch.grid = request.grid;
    launch.block = request.block;
    launch.cluster = request.cluster;
    launch.is_clustered = is_clustered(*kernel, request);
    launch.registers = kernel->registers;
    launch.dynamic_shared_bytes = request.dynamic_shared_bytes;
    launch.shared_bytes = kernel->shared_bytes + request.dynamic_shared_bytes;
    constexpr std::uint32_t kStackAlignment = 16;
    const std::uint64_t beyond = module.has_unknown_stack(*kernel) ? stack_bytes_ : 0;
    const std::uint64_t local = std::min(kernel->local_bytes + beyond, kMaximumLocalBytes);
    launch.local_bytes = static_cast<std::uint32_t>((local + kStackAlignment - 1) /
                                                    kStackAlignment * kStackAlignment);
    launch.rows = launch.program->rows();
    launch.id = ++launches_;

    const std::span<std::byte> bank0(reinterpret_cast<std::byte*>(space.bank0),
                                     constant_bank0_bytes(*kernel));
    if (request.cooperative)
        std::memset(reinterpret_cast<void*>(space.grid_workspace), 0, kGridWorkspaceBytes);
    fill_constant_bank0(bank0, space.bank0, launch.arch, *kernel, request, *machine_,
                        launch.local_bytes, launch.id,
                        request.cooperative ? space.grid_workspace : 0);
    add_reserved_shared(launch, bank0);
    if (options_.bounds == Bounds::kPage)
        launch.shared_bytes = granted_shared_bytes(launch.shared_bytes);
    launch.constant[0] = bank0;
    for (unsigned bank = 1; bank < launch.constant.size(); ++bank)
        launch.constant[bank] = module.constant_bank(*kernel, bank);
    set_constant_window(launch, bank0);
    LiteralTable& literals = space.literals[request.module];
    literals.fill(*launch.program, launch.constant);
    launch.literals = literals.data();
    return *kernel;
}

std::uint64_t GpuDevice::active_clusters(std::uint32_t ctas, std::uint32_t by_sm) const {
    return GpcMap(*machine_).clusters(ctas, by_sm);
}

std::uint32_t GpuDevice::resident_by_sm(const cubin::Function& kernel,
                                        const LaunchRequest& request) const {
    return resident_ctas(*machine_, kernel, static_cast<std::uint32_t>(request.block.volume()),
                         request.dynamic_shared_bytes);
}

}  // namespace lockstep::gpu
