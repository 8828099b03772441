// SPDX-License-Identifier: Apache-2.0
// Device management. There is one device, number 0.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "workloads/cuda_api/runtime/functions.h"

namespace lockstep::cuda {
namespace {

constexpr int kSharedConfig = 1;

constexpr const char* kPciBusId = "0000:00:00.0";

Error store(auto* place, auto value) {
    if (!place) return Error::kInvalidValue;
    *place = value;
    return Error::kSuccess;
}

Error only_device(int device) {
    return device == 0 ? Error::kSuccess : Error::kInvalidDevice;
}

}  // namespace

LOCKSTEP_CUDA Error cudaGetDeviceCount(int* count) {
    return call([&](Context&) { return store(count, 1); });
}
LOCKSTEP_CUDA Error cudaGetDevice(int* device) {
    return call([&](Context&) { return store(device, 0); });
}
LOCKSTEP_CUDA Error cudaSetDevice(int device) {
    return call([&](Context&) { return only_device(device); });
}
LOCKSTEP_CUDA Error cudaInitDevice(int device, unsigned, unsigned) {
    return call([&](Context&) { return only_device(device); });
}
LOCKSTEP_CUDA Error cudaSetValidDevices(int* devices, int count) {
    return call([&](Context&) {
        if (!devices && count != 0) return Error::kInvalidValue;
        for (int i = 0; i < count; ++i)
            if (devices[i] != 0) return Error::kInvalidDevice;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaChooseDevice(int* device, const void* properties) {
    return call([&](Context&) { return properties ? store(device, 0) : Error::kInvalidValue; });
}

LOCKSTEP_CUDA Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
    return call([&](Context& context) {
        if (device != 0) return Error::kInvalidDevice;
        const auto result = context.properties().attribute(attribute);
        return result ? store(value, *result) : Error::kInvalidValue;
    });
}

LOCKSTEP_CUDA Error cudaDeviceSynchronize() {
    return call_and_wait([](Context& context) { return context.streams.synchronize_all(); });
}
LOCKSTEP_CUDA Error cudaThreadSynchronize() {
    return cudaDeviceSynchronize();
}

LOCKSTEP_CUDA Error cudaDeviceReset() {
    Context::current().reset_device();
    forget_error();
    return Error::kSuccess;
}
LOCKSTEP_CUDA Error cudaThreadExit() {
    return cudaDeviceReset();
}

LOCKSTEP_CUDA Error cudaDeviceSetLimit(abi::Limit limit, std::size_t value) {
    return call([&](Context& context) {
        switch (limit) {
            case abi::kLimitStackSize:
                if (value > kMaximumLocalBytes) return Error::kInvalidValue;
                context.device().set_stack_bytes(value);
                break;
            case abi::kLimitMallocHeapSize:
                context.device().set_heap_bytes(value);
                break;
            case abi::kLimitPrintfFifoSize:
            case abi::kLimitDevRuntimePendingLaunchCount:
            case abi::kLimitPersistingL2CacheSize:
                break;
            case abi::kLimitMaxL2FetchGranularity:
                if (value > 128) return Error::kInvalidValue;
                break;
            default:
                return Error::kUnsupportedLimit;
        }
        context.settings.limits[limit] = value;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaThreadSetLimit(abi::Limit limit, std::size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
LOCKSTEP_CUDA Error cudaDeviceGetLimit(std::size_t* value, abi::Limit limit) {
    return call([&](Context& context) {
        if (limit < 0 || limit >= abi::kLimitCount || limit == abi::kLimitDevRuntimeSyncDepth)
            return Error::kUnsupportedLimit;
        return store(value, context.settings.limits[limit]);
    });
}
LOCKSTEP_CUDA Error cudaThreadGetLimit(std::size_t* value, abi::Limit limit) {
    return cudaDeviceGetLimit(value, limit);
}

// Preferences about how the L1 and shared memory are split; the machine splits them as it needs.
LOCKSTEP_CUDA Error cudaDeviceGetCacheConfig(int* config) {
    return call([&](Context& context) { return store(config, context.settings.cache_config); });
}
LOCKSTEP_CUDA Error cudaDeviceSetCacheConfig(int config) {
    return call([&](Context& context) { return store(&context.settings.cache_config, config); });
}
LOCKSTEP_CUDA Error cudaThreadGetCacheConfig(int* config) {
    return cudaDeviceGetCacheConfig(config);
}
LOCKSTEP_CUDA Error cudaThreadSetCacheConfig(int config) {
    return cudaDeviceSetCacheConfig(config);
}
LOCKSTEP_CUDA Error cudaDeviceGetSharedMemConfig(int* config) {
    return call([&](Context&) { return store(config, kSharedConfig); });
}
LOCKSTEP_CUDA Error cudaDeviceSetSharedMemConfig(int) {
    return call([](Context&) { return Error::kSuccess; });  // banks have had 4 bytes since sm_50
}
LOCKSTEP_CUDA Error cudaCtxResetPersistingL2Cache() {
    return call([](Context&) { return Error::kSuccess; });
}

LOCKSTEP_CUDA Error cudaSetDeviceFlags(unsigned flags) {
    return call([&](Context& context) {
        if ((flags & ~0xffu) != 0) return Error::kInvalidValue;
        return store(&context.settings.flags, flags);
    });
}
LOCKSTEP_CUDA Error cudaGetDeviceFlags(unsigned* flags) {
    constexpr unsigned kMapHost = 8;
    return call([&](Context& context) { return store(flags, context.settings.flags | kMapHost); });
}

Error pci_bus_id(char* text, int bytes, int device) {
    if (device != 0) return Error::kInvalidDevice;
    if (!text || bytes <= static_cast<int>(std::strlen(kPciBusId))) return Error::kInvalidValue;
    std::strcpy(text, kPciBusId);
    return Error::kSuccess;
}
Error device_of_pci_bus_id(int* device, const char* text) {
    if (!text) return Error::kInvalidValue;
    return std::string_view(text) == kPciBusId ? store(device, 0) : Error::kInvalidDevice;
}
LOCKSTEP_CUDA Error cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
    return call([&](Context&) { return pci_bus_id(text, bytes, device); });
}
LOCKSTEP_CUDA Error cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return call([&](Context&) { return device_of_pci_bus_id(device, text); });
}
LOCKSTEP_CUDA Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call([&](Context&) {
        if (least) *least = 0;
        if (greatest) *greatest = -5;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return call([&](Context&) {
        if (device != 0 || peer != 0) return Error::kInvalidDevice;
        return store(can, 0);
    });
}
LOCKSTEP_CUDA Error cudaDeviceEnablePeerAccess(int, unsigned) {
    return call([](Context&) { return Error::kInvalidDevice; });
}
LOCKSTEP_CUDA Error cudaDeviceDisablePeerAccess(int peer) {
    return call(
        [&](Context&) { return peer == 0 ? Error::kPeerAccessNotEnabled : Error::kInvalidDevice; });
}
LOCKSTEP_CUDA Error cudaDeviceGetP2PAttribute(int*, int, int, int) {
    return call([](Context&) { return Error::kInvalidDevice; });
}

// There is no profiler to start: --stats counts every launch.
LOCKSTEP_CUDA Error cudaProfilerStart() {
    return call([](Context&) { return Error::kSuccess; });
}
LOCKSTEP_CUDA Error cudaProfilerStop() {
    return call([](Context&) { return Error::kSuccess; });
}

// Memory of one process is not another's.
LOCKSTEP_CUDA Error cudaIpcGetMemHandle(void*, void*) {
    return call([](Context&) { return Error::kNotSupported; });
}
LOCKSTEP_CUDA Error cudaIpcOpenMemHandle(void**, ...) {
    return call([](Context&) { return Error::kNotSupported; });
}
LOCKSTEP_CUDA Error cudaIpcCloseMemHandle(void*) {
    return call([](Context&) { return Error::kNotSupported; });
}
LOCKSTEP_CUDA Error cudaIpcGetEventHandle(void*, Event*) {
    return call([](Context&) { return Error::kNotSupported; });
}
LOCKSTEP_CUDA Error cudaIpcOpenEventHandle(Event**, ...) {
    return call([](Context&) { return Error::kNotSupported; });
}

}  // namespace lockstep::cuda
