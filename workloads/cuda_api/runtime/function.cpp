// SPDX-License-Identifier: Apache-2.0
// What a program asks about its kernels: attributes, limits, occupancy.
#include <algorithm>
#include <cstring>

#include "workloads/cuda_api/runtime/functions.h"
#include "workloads/cuda_api/state/launch.h"

namespace lockstep::cuda {
namespace {

/// Calls body with the kernel of a host function or handle, loaded.
Error with_kernel(const void* function, const std::function<Error(Context&, Kernel&)>& body) {
    return call([&](Context& context) {
        Kernel* kernel = context.modules.find_kernel(function);
        if (!kernel || !context.modules.load(*kernel)) return Error::kInvalidDeviceFunction;
        return body(context, *kernel);
    });
}

Error set_attribute(Context& context, Kernel& kernel, abi::FuncAttribute attribute, int value) {
    switch (attribute) {
        case abi::kMaxDynamicSharedMemorySize:
            if (value < 0 || static_cast<std::size_t>(value) + static_shared(kernel) >
                                 context.properties().shared_per_block_optin)
                return Error::kInvalidValue;
            kernel.max_dynamic_shared = value;
            return Error::kSuccess;
        case abi::kPreferredSharedMemoryCarveout:
            if (value < -1 || value > 100) return Error::kInvalidValue;
            kernel.carveout = value;
            return Error::kSuccess;
        case abi::kRequiredClusterWidth:
        case abi::kRequiredClusterHeight:
        case abi::kRequiredClusterDepth:
            kernel.cluster[attribute - abi::kRequiredClusterWidth] = value;
            return Error::kSuccess;
        case abi::kNonPortableClusterSizeAllowed:
            kernel.non_portable_cluster = value;
            return Error::kSuccess;
        case abi::kClusterSchedulingPolicyPreference:
            kernel.cluster_policy = value;
            return Error::kSuccess;
        default:
            return Error::kInvalidValue;
    }
}

std::size_t constant_bytes(const Kernel& kernel) {
    std::size_t bytes = 0;
    for (const cubin::ConstantBank& bank : kernel.function->constant_banks)
        if (bank.bank == 3)  // __constant__ variables
            bytes += kernel.module->cubin().sections[bank.section].size;
    return bytes;
}

}  // namespace

int max_block_threads(Context& context, const Kernel& kernel) {
    const DeviceProperties& device = context.properties();
    const cubin::Function& code = *kernel.function;
    unsigned limit = DeviceProperties::kMaxThreadsPerBlock;
    if (code.max_threads[0] != 0)
        limit = std::min(limit, code.max_threads[0] * std::max(code.max_threads[1], 1u) *
                                    std::max(code.max_threads[2], 1u));
    if (code.registers != 0) {
        const unsigned unit = DeviceProperties::kRegisterUnit;
        const unsigned per_warp = (code.registers * 32 + unit - 1) / unit * unit;
        const auto sub_cores = static_cast<unsigned>(device.sub_cores);
        const unsigned warps =
            DeviceProperties::kRegistersPerBlock / sub_cores / per_warp * sub_cores;
        limit = std::min(limit, warps * 32);
    }
    return static_cast<int>(limit);
}

Error function_attributes(abi::FuncAttributes& result, const void* function) {
    return with_kernel(function, [&](Context& context, Kernel& kernel) {
        const cubin::Function& code = *kernel.function;
        result = {};
        result.sharedSizeBytes = static_shared(kernel);
        result.constSizeBytes = constant_bytes(kernel);
        result.localSizeBytes = code.local_bytes;
        result.maxThreadsPerBlock = max_block_threads(context, kernel);
        result.numRegs = static_cast<int>(code.registers);
        result.ptxVersion = kernel.module->ptx_arch();
        result.binaryVersion = kernel.module->arch();
        result.maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(kernel));
        result.preferredShmemCarveout = kernel.carveout;
        result.clusterDimMustBeSet = code.explicit_cluster && code.cluster[0] == 0;
        int* const cluster[3] = {&result.requiredClusterWidth, &result.requiredClusterHeight,
                                 &result.requiredClusterDepth};
        for (int i = 0; i < 3; ++i)
            *cluster[i] = code.cluster[0] ? static_cast<int>(code.cluster[i]) : kernel.cluster[i];
        result.clusterSchedulingPolicyPreference = kernel.cluster_policy;
        result.nonPortableClusterSizeAllowed = kernel.non_portable_cluster;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaFuncSetAttribute(const void* function, abi::FuncAttribute attribute,
                                         int value) {
    return with_kernel(function, [&](Context& context, Kernel& kernel) {
        return set_attribute(context, kernel, attribute, value);
    });
}
LOCKSTEP_CUDA Error cudaKernelSetAttributeForDevice(Kernel* kernel, abi::FuncAttribute attribute,
                                                    int value, int device) {
    return with_kernel(kernel, [&](Context& context, Kernel& k) {
        return context.has_device(device) ? set_attribute(context, k, attribute, value)
                                          : Error::kInvalidDevice;
    });
}
LOCKSTEP_CUDA Error cudaFuncSetCacheConfig(const void* function, int) {
    return with_kernel(function, [](Context&, Kernel&) { return Error::kSuccess; });
}
LOCKSTEP_CUDA Error cudaFuncSetSharedMemConfig(const void* function, int) {
    return with_kernel(function, [](Context&, Kernel&) { return Error::kSuccess; });
}
LOCKSTEP_CUDA Error cudaFuncGetName(const char** name, const void* function) {
    return with_kernel(function, [&](Context&, Kernel& kernel) {
        return name ? (*name = kernel.name.c_str(), Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaFuncGetParamInfo(const void* function, std::size_t index,
                                         std::size_t* offset, std::size_t* size) {
    return with_kernel(function, [&](Context&, Kernel& kernel) {
        const auto& parameters = kernel.function->parameters;
        if (!offset || index >= parameters.size()) return Error::kInvalidValue;
        *offset = parameters[index].offset;
        if (size) *size = parameters[index].size;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_threads, std::size_t dynamic_shared,
    unsigned flags) {
    return with_kernel(function, [&](Context& context, Kernel& kernel) {
        constexpr unsigned kDisableCachingOverride = 1;
        if (!blocks || block_threads <= 0 || (flags & ~kDisableCachingOverride) != 0)
            return Error::kInvalidValue;
        const auto threads = static_cast<unsigned>(block_threads);
        *blocks = resident_blocks(context, kernel, threads, dynamic_shared);
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                  int block_threads,
                                                                  std::size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                                  dynamic_shared, 0);
}
LOCKSTEP_CUDA Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                              const void* function, int blocks,
                                                              int block_threads) {
    return with_kernel(function, [&](Context& context, Kernel& kernel) {
        if (!bytes || blocks <= 0 || block_threads <= 0) return Error::kInvalidValue;
        const DeviceProperties& device = context.properties();
        if (resident_blocks(context, kernel, static_cast<unsigned>(block_threads), 0) < blocks)
            return Error::kInvalidValue;
        const std::size_t unit = device.shared_unit();
        const std::size_t share =
            device.shared_per_sm / static_cast<std::size_t>(blocks) / unit * unit;
        const std::size_t fixed = static_shared(kernel) + device.reserved_shared;
        *bytes = std::min(share > fixed ? share - fixed : 0,
                          device.shared_per_block_optin - static_shared(kernel));
        return Error::kSuccess;
    });
}

namespace {

/// Clusters of so many CTAs that the device holds at once.
int active_clusters(Context& context, const Kernel& kernel, const abi::LaunchConfig& config,
                    unsigned ctas) {
    const auto threads = config.blockDim.x * config.blockDim.y * config.blockDim.z;
    const int by_sm = resident_blocks(context, kernel, threads, config.dynamicSmemBytes);
    return static_cast<int>(
        context.device().active_clusters(ctas, static_cast<std::uint32_t>(by_sm)));
}

}  // namespace

LOCKSTEP_CUDA Error cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                         const abi::LaunchConfig* config) {
    return with_kernel(function, [&](Context& context, Kernel& kernel) {
        if (!size || !config) return Error::kInvalidValue;
        if (context.properties().arch < 90) return Error::kNotSupported;
        constexpr int kMost = 16;
        const int most = kernel.non_portable_cluster != 0 ? kMost : DeviceProperties::kMaxCluster;
        for (*size = most; *size > 1; *size /= 2)
            if (active_clusters(context, kernel, *config, static_cast<unsigned>(*size)) != 0) break;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                   const abi::LaunchConfig* config) {
    return with_kernel(function, [&](Context& context, Kernel& kernel) {
        if (!clusters || !config) return Error::kInvalidValue;
        std::uint64_t ctas = 1;
        for (unsigned i = 0; i < config->numAttrs; ++i)
            if (config->attrs[i].id == abi::kLaunchAttributeClusterDimension) {
                const abi::Dim3 d = config->attrs[i].val.clusterDim;
                ctas = std::uint64_t{d.x} * d.y * d.z;
            }
        const cubin::Function& code = *kernel.function;
        if (ctas == 1 && code.cluster[0] != 0)
            ctas = std::uint64_t{code.cluster[0]} * code.cluster[1] * code.cluster[2];
        const auto most = static_cast<std::uint64_t>(
            kernel.non_portable_cluster != 0 ? 16 : DeviceProperties::kMaxCluster);
        if (ctas == 0 || ctas > most || (ctas > 1 && context.properties().arch < 90))
            return Error::kInvalidClusterSize;
        *clusters = active_clusters(context, kernel, *config, static_cast<unsigned>(ctas));
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaGetFuncBySymbol(Kernel** result, const void* function) {
    return with_kernel(function, [&](Context&, Kernel& kernel) {
        return result ? (*result = &kernel, Error::kSuccess) : Error::kInvalidValue;
    });
}
/// Registration is enough for a handle; the module is loaded at the first launch.
LOCKSTEP_CUDA Error cudaGetKernel(Kernel** result, const void* function) {
    return call([&](Context& context) {
        if (!result) return Error::kInvalidValue;
        *result = context.modules.find_kernel(function);
        return *result ? Error::kSuccess : Error::kInvalidDeviceFunction;
    });
}
LOCKSTEP_CUDA Error __cudaGetKernel(Kernel** result, const void* function) {
    return cudaGetKernel(result, function);
}

}  // namespace lockstep::cuda
