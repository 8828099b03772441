// SPDX-License-Identifier: Apache-2.0
// Modules and libraries, the functions and variables in them. A CUmodule and a CUlibrary are both
// a Module here, a CUfunction and a CUkernel both a Kernel; there is one device to load them on.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "isa/cubin/executable.h"
#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

/// What the driver returns for an image that does not load.
Result refusal(std::span<const std::uint8_t> image) {
    switch (cubin::identify(image)) {
        case cubin::FileKind::kPtx:
            return Result::kInvalidPtx;
        case cubin::FileKind::kFatbin:
            return Result::kNoBinaryForGpu;
        default:
            return Result::kInvalidImage;
    }
}

Result load(Module** module, const std::vector<std::uint8_t>& image, const std::string& name) {
    Result refused = Result::kSuccess;
    const Result result = in_context([&](cuda::Context& context) {
        try {
            return load_library(context, module, image, name);
        } catch (const InputError& error) {
            // The code alone does not say why.
            std::fprintf(stderr, "lockstep: %s\n", error.what());
            refused = refusal(image);
            return Error::kSuccess;
        }
    });
    return refused != Result::kSuccess ? refused : result;
}

Result load_data(Module** module, const void* image) {
    if (const Result error = check_context(); error != Result::kSuccess) return error;
    if (!module || !image) return Result::kInvalidValue;
    return load(module, image_of(image), "a loaded module");
}

Result load_file(Module** module, const char* path) {
    if (const Result error = check_context(); error != Result::kSuccess) return error;
    if (!module || !path) return Result::kInvalidValue;
    std::ifstream file(path, std::ios::binary);
    if (!file) return Result::kFileNotFound;
    return load(module, {std::istreambuf_iterator<char>(file), {}}, path);
}

/// CU_JIT_...: buffers for messages stay empty, all else is a wish that ptxas has no option for.
void clear_logs(unsigned count, const int* options, void** values) {
    constexpr int kInfoBytes = 4, kErrorBytes = 6;
    if (!options || !values) return;
    for (unsigned i = 0; i < count; ++i)
        if (options[i] == kInfoBytes || options[i] == kErrorBytes) values[i] = nullptr;
}

Result attribute(int* value, abi::FuncAttribute attribute, Kernel* function) {
    return call([&] {
        abi::FuncAttributes all{};
        if (const Error error = function_attributes(all, function); error != Error::kSuccess)
            return error;
        const int values[] = {all.maxThreadsPerBlock,
                              static_cast<int>(all.sharedSizeBytes),
                              static_cast<int>(all.constSizeBytes),
                              static_cast<int>(all.localSizeBytes),
                              all.numRegs,
                              all.ptxVersion,
                              all.binaryVersion,
                              all.cacheModeCA,
                              all.maxDynamicSharedSizeBytes,
                              all.preferredShmemCarveout,
                              all.clusterDimMustBeSet,
                              all.requiredClusterWidth,
                              all.requiredClusterHeight,
                              all.requiredClusterDepth,
                              all.nonPortableClusterSizeAllowed,
                              all.clusterSchedulingPolicyPreference};
        if (attribute < 0 || static_cast<std::size_t>(attribute) >= std::size(values))
            return Error::kInvalidValue;
        return store(value, values[attribute]);
    });
}

/// The body gets a loaded kernel.
Result with_kernel(Kernel* handle, const std::function<Error(cuda::Context&, Kernel&)>& body) {
    return in_context([&](cuda::Context& context) {
        Kernel* const kernel = context.modules.find_kernel(handle);
        if (!kernel || !context.modules.load(*kernel)) return Error::kInvalidDeviceFunction;
        return body(context, *kernel);
    });
}

}  // namespace

LOCKSTEP_DRIVER(cuModuleLoad, (Module * *module, const char* path)) {
    return load_file(module, path);
}
LOCKSTEP_DRIVER(cuModuleLoadData, (Module * *module, const void* image)) {
    return load_data(module, image);
}
LOCKSTEP_DRIVER(cuModuleLoadDataEx, (Module * *module, const void* image, unsigned count,
                                     int* options, void** values)) {
    clear_logs(count, options, values);
    return load_data(module, image);
}
LOCKSTEP_DRIVER(cuModuleLoadFatBinary, (Module * *module, const void* image)) {
    return load_data(module, image);
}
LOCKSTEP_DRIVER(cuModuleUnload, (Module * module)) {
    return call([&] { return cudaLibraryUnload(module); });
}
LOCKSTEP_DRIVER(cuModuleGetLoadingMode, (int* mode)) {
    constexpr int kLazy = 2;
    return in_device([&](cuda::Context&) { return store(mode, kLazy); });
}
LOCKSTEP_DRIVER(cuModuleGetFunction, (Kernel * *function, Module* module, const char* name)) {
    return call([&] { return cudaLibraryGetKernel(function, module, name); });
}
LOCKSTEP_DRIVER(cuModuleGetFunctionCount, (unsigned* count, Module* module)) {
    return call([&] { return cudaLibraryGetKernelCount(count, module); });
}
LOCKSTEP_DRIVER(cuModuleEnumerateFunctions, (Kernel * *functions, unsigned count, Module* module)) {
    return call([&] { return cudaLibraryEnumerateKernels(functions, count, module); });
}
LOCKSTEP_DRIVER(cuModuleGetGlobal_v2,
                (Pointer * pointer, std::size_t* bytes, Module* module, const char* name)) {
    return call([&] {
        return cudaLibraryGetGlobal(reinterpret_cast<void**>(pointer), bytes, module, name);
    });
}

LOCKSTEP_DRIVER(cuLibraryLoadData, (Module * *library, const void* code, int* options,
                                    void** values, unsigned count, void*, void**, unsigned)) {
    clear_logs(count, options, values);
    return load_data(library, code);
}
LOCKSTEP_DRIVER(cuLibraryLoadFromFile, (Module * *library, const char* path, int* options,
                                        void** values, unsigned count, void*, void**, unsigned)) {
    clear_logs(count, options, values);
    return load_file(library, path);
}
LOCKSTEP_DRIVER(cuLibraryUnload, (Module * library)) {
    return call([&] { return cudaLibraryUnload(library); });
}
LOCKSTEP_DRIVER(cuLibraryGetKernel, (Kernel * *kernel, Module* library, const char* name)) {
    return call([&] { return cudaLibraryGetKernel(kernel, library, name); });
}
LOCKSTEP_DRIVER(cuLibraryGetKernelCount, (unsigned* count, Module* library)) {
    return call([&] { return cudaLibraryGetKernelCount(count, library); });
}
LOCKSTEP_DRIVER(cuLibraryEnumerateKernels, (Kernel * *kernels, unsigned count, Module* library)) {
    return call([&] { return cudaLibraryEnumerateKernels(kernels, count, library); });
}
LOCKSTEP_DRIVER(cuLibraryGetModule, (Module * *module, Module* library)) {
    return in_context([&](cuda::Context& context) {
        if (!context.modules.contains(library)) return Error::kInvalidResourceHandle;
        return store(module, library);
    });
}
LOCKSTEP_DRIVER(cuLibraryGetGlobal,
                (Pointer * pointer, std::size_t* bytes, Module* library, const char* name)) {
    return call([&] {
        return cudaLibraryGetGlobal(reinterpret_cast<void**>(pointer), bytes, library, name);
    });
}
LOCKSTEP_DRIVER(cuLibraryGetManaged,
                (Pointer * pointer, std::size_t* bytes, Module* library, const char* name)) {
    return call([&] {
        return cudaLibraryGetManaged(reinterpret_cast<void**>(pointer), bytes, library, name);
    });
}

LOCKSTEP_DRIVER(cuKernelGetFunction, (Kernel * *function, Kernel* kernel)) {
    return with_kernel(kernel,
                       [&](cuda::Context&, Kernel& loaded) { return store(function, &loaded); });
}
LOCKSTEP_DRIVER(cuKernelGetLibrary, (Module * *library, Kernel* kernel)) {
    return with_kernel(
        kernel, [&](cuda::Context&, Kernel& loaded) { return store(library, loaded.module); });
}
LOCKSTEP_DRIVER(cuKernelGetName, (const char** name, Kernel* kernel)) {
    return call([&] { return cudaFuncGetName(name, kernel); });
}
LOCKSTEP_DRIVER(cuKernelGetParamInfo,
                (Kernel * kernel, std::size_t index, std::size_t* offset, std::size_t* size)) {
    return call([&] { return cudaFuncGetParamInfo(kernel, index, offset, size); });
}
LOCKSTEP_DRIVER(cuKernelGetAttribute,
                (int* value, abi::FuncAttribute which, Kernel* kernel, Device device)) {
    return has_device(device) ? attribute(value, which, kernel) : Result::kInvalidDevice;
}
LOCKSTEP_DRIVER(cuKernelSetAttribute,
                (abi::FuncAttribute which, int value, Kernel* kernel, Device device)) {
    return call([&] { return cudaKernelSetAttributeForDevice(kernel, which, value, device); });
}
LOCKSTEP_DRIVER(cuKernelSetCacheConfig, (Kernel * kernel, int config, Device device)) {
    if (!has_device(device)) return Result::kInvalidDevice;
    return call([&] { return cudaFuncSetCacheConfig(kernel, config); });
}

LOCKSTEP_DRIVER(cuFuncGetAttribute, (int* value, abi::FuncAttribute which, Kernel* function)) {
    return attribute(value, which, function);
}
LOCKSTEP_DRIVER(cuFuncSetAttribute, (Kernel * function, abi::FuncAttribute which, int value)) {
    return call([&] { return cudaFuncSetAttribute(function, which, value); });
}
LOCKSTEP_DRIVER(cuFuncSetCacheConfig, (Kernel * function, int config)) {
    return call([&] { return cudaFuncSetCacheConfig(function, config); });
}
LOCKSTEP_DRIVER(cuFuncSetSharedMemConfig, (Kernel * function, int config)) {
    return call([&] { return cudaFuncSetSharedMemConfig(function, config); });
}
LOCKSTEP_DRIVER(cuFuncGetModule, (Module * *module, Kernel* function)) {
    return with_kernel(
        function, [&](cuda::Context&, Kernel& loaded) { return store(module, loaded.module); });
}
LOCKSTEP_DRIVER(cuFuncGetName, (const char** name, Kernel* function)) {
    return call([&] { return cudaFuncGetName(name, function); });
}
LOCKSTEP_DRIVER(cuFuncGetParamInfo,
                (Kernel * function, std::size_t index, std::size_t* offset, std::size_t* size)) {
    return call([&] { return cudaFuncGetParamInfo(function, index, offset, size); });
}
LOCKSTEP_DRIVER(cuFuncIsLoaded, (int* state, Kernel* function)) {
    return with_kernel(function, [&](cuda::Context&, Kernel&) { return store(state, 1); });
}
LOCKSTEP_DRIVER(cuFuncLoad, (Kernel * function)) {
    return with_kernel(function, [](cuda::Context&, Kernel&) { return Error::kSuccess; });
}

}  // namespace lockstep::cuda::driver
