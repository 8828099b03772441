// SPDX-License-Identifier: Apache-2.0
// What the code that nvcc generates calls: registration before main(), and <<<...>>>.
// Source: crt/host_runtime.h and crt/link.stub of the toolkit.
#include <vector>

#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/state/launch.h"

namespace lockstep::cuda {
namespace {

struct CallConfiguration {
    abi::Dim3 grid, block;
    std::size_t shared;
    Stream* stream;
};
thread_local std::vector<CallConfiguration> call_configurations;

Module* module_of(void** handle) {
    return reinterpret_cast<Module*>(handle);
}

}  // namespace

LOCKSTEP_CUDA void** __cudaRegisterFatBinary(const abi::FatbinWrapper* wrapper) {
    Module* module = nullptr;
    call([&](Context& context) {
        module = context.modules.add(*wrapper);
        return Error::kSuccess;
    });
    return reinterpret_cast<void**>(module);
}

LOCKSTEP_CUDA void __cudaRegisterFatBinaryEnd(void**) {}

LOCKSTEP_CUDA void __cudaUnregisterFatBinary(void** handle) {
    Context::current().unregister(module_of(handle));
}

LOCKSTEP_CUDA void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                          const char* device_name, int, void*, void*, void*, void*,
                                          int*) {
    call([&](Context& context) {
        context.modules.register_kernel(*module_of(handle), host_function, device_name);
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA void __cudaRegisterVar(void** handle, char* host_variable, char*,
                                     const char* device_name, int, std::size_t size, int, int) {
    call([&](Context& context) {
        context.modules.register_variable(*module_of(handle), host_variable,
                                          {nullptr, device_name, size, nullptr});
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*,
                                            const char* device_name, int, std::size_t size, int,
                                            int) {
    call([&](Context& context) {
        context.modules.register_variable(*module_of(handle), host_pointer,
                                          {nullptr, device_name, size, host_pointer});
        return Error::kSuccess;
    });
}

/// Host variables that device code may name (-gdb and __grid_constant__ tables); nothing to do as
/// device code reaches them through the registered address only.
LOCKSTEP_CUDA void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}

/// Called before the host first touches a managed variable.
LOCKSTEP_CUDA char __cudaInitModule(void** handle) {
    return call([&](Context& context) {
               context.modules.load(*module_of(handle));
               return Error::kSuccess;
           }) == Error::kSuccess;
}

LOCKSTEP_CUDA unsigned __cudaPushCallConfiguration(abi::Dim3 grid, abi::Dim3 block,
                                                   std::size_t shared, Stream* stream) {
    call_configurations.push_back({grid, block, shared, stream});
    return 0;
}

LOCKSTEP_CUDA Error __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block,
                                               std::size_t* shared, Stream** stream) {
    if (call_configurations.empty())
        return call([](Context&) { return Error::kMissingConfiguration; });
    const CallConfiguration top = call_configurations.back();
    call_configurations.pop_back();
    *grid = top.grid;
    *block = top.block;
    *shared = top.shared;
    *stream = top.stream;
    return Error::kSuccess;
}

}  // namespace lockstep::cuda
