// SPDX-License-Identifier: Apache-2.0
// nvcc puts a wrapper into the program that points to its fatbin; the driver takes the image that
// fits the device, compiles PTX where none does, and loads it at first use (CUDA_MODULE_LOADING
// =LAZY, the default since CUDA 12). We do the same, with ptxas as the compiler.
#include "workloads/cuda_api/state/module.h"

#include <dlfcn.h>

#include <algorithm>

#include "isa/cubin/executable.h"
#include "isa/cubin/fatbin.h"
#include "isa/cubin/ptxas.h"
#include "sim/config/machine.h"
#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda {
namespace {

std::string file_of(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) && info.dli_fname && *info.dli_fname ? info.dli_fname
                                                                       : "the program";
}

}  // namespace

void Module::load(Device& device, int arch) {
    if (loaded()) return;
    std::vector<std::uint8_t> bytes;
    int ptx_arch = 0;
    switch (cubin::identify(image_)) {
        case cubin::FileKind::kCubin:
            bytes.assign(image_.begin(), image_.end());
            break;
        case cubin::FileKind::kPtx:
            bytes = cubin::compile_ptx(image_, fmt::format("sm_{}", arch), "", file_name_);
            break;
        default: {
            const std::vector<cubin::Image> images = cubin::parse_fatbin(image_, file_name_);
            bytes = cubin::cubin_for(images, arch, file_name_, config::Machine::gpus);
            const cubin::Image* chosen = cubin::choose_image(images, arch);
            if (chosen && chosen->kind == cubin::ImageKind::kPtx) ptx_arch = chosen->arch;
        }
    }
    cubin_ = cubin::parse(bytes, file_name_);
    ptx_arch_ = ptx_arch != 0 ? ptx_arch : cubin_.arch;
    handle_ = device.load_module(cubin_);
    for (auto& kernel : kernels_) kernel->function = device.find_kernel(handle_, kernel->name);
    for (Variable& variable : variables_)
        if (variable.managed)
            *variable.managed =
                reinterpret_cast<void*>(device.find_variable(handle_, variable.name).first);
}

void Module::unload(Device& device) {
    if (loaded()) device.unload_module(handle_);
    forget();
}

void Module::forget() {
    handle_ = 0;
    for (auto& kernel : kernels_) kernel->function = nullptr;
}

Kernel& Module::add_kernel(std::string name) {
    kernels_.push_back(std::make_unique<Kernel>());
    kernels_.back()->module = this;
    kernels_.back()->name = std::move(name);
    return *kernels_.back();
}

Kernel* Module::find_kernel(std::string_view name) {
    for (auto& kernel : kernels_)
        if (kernel->name == name) return kernel.get();
    return nullptr;
}

Module* Modules::add(const abi::FatbinWrapper& wrapper) {
    const std::string file_name = file_of(&wrapper);
    if (wrapper.magic != abi::kFatbinWrapperMagic || !wrapper.data)
        throw InputError(fmt::format("{}: what it registers is not a fatbin", file_name));
    const auto* bytes = static_cast<const std::uint8_t*>(wrapper.data);
    const std::span image(
        bytes, cubin::fatbin_bytes(std::span<const std::uint8_t, 16>(bytes, 16), file_name));
    modules_.push_back(std::make_unique<Module>(image, file_name));
    return modules_.back().get();
}

Module* Modules::add(std::vector<std::uint8_t> image, std::string file_name) {
    auto owned = std::make_unique<std::vector<std::uint8_t>>(std::move(image));
    modules_.push_back(std::make_unique<Module>(std::span<const std::uint8_t>(*owned), file_name));
    modules_.back()->owned = std::move(*owned);  // moving keeps the bytes where they are
    return modules_.back().get();
}

bool Modules::contains(const Module* module) const {
    return std::any_of(modules_.begin(), modules_.end(),
                       [&](const auto& other) { return other.get() == module; });
}

void Modules::remove(Module* module) {
    if (!contains(module)) return;
    if (module->loaded()) module->unload(context_.device());
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module == module; });
    std::erase_if(handles_, [&](const auto& entry) { return entry.second->module == module; });
    std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == module; });
    std::erase_if(modules_, [&](const auto& other) { return other.get() == module; });
}

void Modules::register_kernel(Module& module, const void* host_function, const char* name) {
    Kernel& kernel = module.add_kernel(name);
    kernel.host_function = host_function;
    if (host_function) kernels_[host_function] = &kernel;
    handles_[&kernel] = &kernel;
    if (module.loaded())
        kernel.function = context_.device().find_kernel(module.handle(), kernel.name);
}

void Modules::register_variable(Module& module, const void* host_variable, Variable variable) {
    variable.module = &module;
    module.variables().push_back(std::move(variable));
    variables_[host_variable] = {&module, module.variables().size() - 1};
}

Kernel* Modules::find_kernel(const void* function) {
    if (const auto entry = kernels_.find(function); entry != kernels_.end()) return entry->second;
    if (const auto entry = handles_.find(function); entry != handles_.end()) return entry->second;
    return nullptr;
}

const cubin::Function* Modules::load(Kernel& kernel) {
    load(*kernel.module);
    return kernel.function;
}

void Modules::load(Module& module) {
    if (module.loaded()) return;
    const auto is_managed = [](const Variable& variable) { return variable.managed != nullptr; };
    // Each device has variables of its own, but for these.
    if (context_.device_count() > 1 &&
        std::any_of(module.variables().begin(), module.variables().end(), is_managed))
        throw InputError(
            fmt::format("{}: __managed__ variables with several devices "
                        "(system.devices) are not supported",
                        module.file_name()));
    module.load(context_.device(), context_.properties().arch);
}

Error Modules::find_variable(const void* host_variable, void*& address, std::size_t& size) {
    const Variable* variable = nullptr;
    if (const auto entry = variables_.find(host_variable); entry != variables_.end())
        variable = &entry->second.module->variables()[entry->second.index];
    // The host names a managed variable by its address in managed memory.
    for (const auto& module : modules_)
        for (const Variable& managed : module->variables())
            if (managed.managed && host_variable && *managed.managed == host_variable)
                variable = &managed;
    if (!variable) return Error::kInvalidSymbol;
    load(*variable->module);
    const auto [pointer, bytes] =
        context_.device().find_variable(variable->module->handle(), variable->name);
    if (pointer == 0) return Error::kInvalidSymbol;
    address = reinterpret_cast<void*>(pointer);
    size = bytes;
    return Error::kSuccess;
}

void Modules::unload_all() {
    for (auto& module : modules_)
        if (module->loaded()) module->unload(context_.device());
}

void Modules::forget_all() {
    for (auto& module : modules_) module->forget();
}

}  // namespace lockstep::cuda
