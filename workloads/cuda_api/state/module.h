// SPDX-License-Identifier: Apache-2.0
// The fatbins a program registered, with the kernels and variables in them. nvcc's start-up code
// registers everything before main(); a module is loaded when something in it is first used.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "workloads/cuda_api/state/abi.h"

namespace lockstep::cuda {

class Context;
class Module;

/// A __global__ function. Its address is what cudaKernel_t and cudaFunction_t hold.
struct Kernel {
    Module* module = nullptr;
    std::string name;                           ///< mangled
    const void* host_function = nullptr;        ///< its stub, where nvcc's start-up code tells it
    const cubin::Function* function = nullptr;  ///< once its module is loaded
    std::optional<int> max_dynamic_shared;      ///< cudaFuncSetAttribute
    int carveout = -1;
    int cluster[3] = {0, 0, 0};
    int non_portable_cluster = 0, cluster_policy = 0;
};

/// A __device__, __constant__ or __managed__ variable.
struct Variable {
    Module* module = nullptr;
    std::string name;
    std::size_t size = 0;
    void** managed = nullptr;  ///< where the host keeps the address of a managed variable
};

class Module {
  public:
    /// `image` is a fatbin, or a bare cubin or PTX text (cudaLibraryLoadData).
    Module(std::span<const std::uint8_t> image, std::string file_name)
        : image_(image), file_name_(std::move(file_name)) {}

    bool loaded() const { return handle_ != 0; }
    ModuleHandle handle() const { return handle_; }
    int arch() const { return cubin_.arch; }  ///< of the SASS; 0 before it is loaded
    /// What the code was written for: differs from arch() where PTX was compiled for the machine.
    int ptx_arch() const { return ptx_arch_; }
    const cubin::Cubin& cubin() const { return cubin_; }
    const std::string& file_name() const { return file_name_; }

    /// Throws InputError where no image fits the machine.
    void load(Device& device, int arch);
    void unload(Device& device);
    void forget();  ///< the device is gone

    Kernel& add_kernel(std::string name);
    Kernel* find_kernel(std::string_view name);
    std::vector<std::unique_ptr<Kernel>>& kernels() { return kernels_; }
    std::vector<Variable>& variables() { return variables_; }
    std::vector<std::uint8_t> owned;  ///< the image, where it is a copy

  private:
    std::span<const std::uint8_t> image_;
    std::string file_name_;
    ModuleHandle handle_ = 0;
    int ptx_arch_ = 0;
    cubin::Cubin cubin_;
    std::vector<std::unique_ptr<Kernel>> kernels_;
    std::vector<Variable> variables_;
};

class Modules {
  public:
    explicit Modules(Context& context) : context_(context) {}

    Module* add(const abi::FatbinWrapper& wrapper);
    Module* add(std::vector<std::uint8_t> image, std::string file_name);
    bool contains(const Module* module) const;
    void remove(Module* module);
    void register_kernel(Module& module, const void* host_function, const char* name);
    void register_variable(Module& module, const void* host_variable, Variable variable);

    /// A kernel by its host function or its handle, or nullptr; not loaded yet.
    Kernel* find_kernel(const void* function);
    /// Loads the kernel's module. Nullptr: the image has no such kernel.
    const cubin::Function* load(Kernel& kernel);
    void load(Module& module);
    /// Address and size of a registered variable.
    Error find_variable(const void* host_variable, void*& address, std::size_t& size);

    void unload_all();
    void forget_all();

  private:
    Context& context_;
    std::vector<std::unique_ptr<Module>> modules_;
    std::unordered_map<const void*, Kernel*> kernels_;  ///< by host function
    std::unordered_map<const void*, Kernel*> handles_;  ///< by their own address
    struct VariableKey {
        Module* module;
        std::size_t index;
    };
    std::unordered_map<const void*, VariableKey> variables_;
};

}  // namespace lockstep::cuda
