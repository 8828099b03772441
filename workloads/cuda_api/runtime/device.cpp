// SPDX-License-Identifier: Apache-2.0
// Device management: one device, or several of a kind (system.devices).
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "workloads/cuda_api/runtime/functions.h"

namespace lockstep::cuda {
namespace {

constexpr int kSharedConfig = 1;

std::string pci_bus_id(int device) {
    return fmt::format("0000:{:02x}:00.0", device);
}

Error store(auto* place, auto value) {
    if (!place) return Error::kInvalidValue;
    *place = value;
    return Error::kSuccess;
}

Error check_device(Context& context, int device) {
    return context.has_device(device) ? Error::kSuccess : Error::kInvalidDevice;
}

/// Two different devices of the system.
bool are_peers(Context& context, int device, int peer) {
    return context.has_device(device) && context.has_device(peer) && device != peer;
}

bool can_access(Context& context, int device, int peer) {
    return context.group() != nullptr &&
           context.group()->can_access_peer(static_cast<unsigned>(device),
                                            static_cast<unsigned>(peer));
}

}  // namespace

LOCKSTEP_CUDA Error cudaGetDeviceCount(int* count) {
    return call(
        [&](Context& context) { return store(count, static_cast<int>(context.device_count())); });
}
LOCKSTEP_CUDA Error cudaGetDevice(int* device) {
    return call(
        [&](Context&) { return store(device, static_cast<int>(Context::current_device())); });
}
LOCKSTEP_CUDA Error cudaSetDevice(int device) {
    return call([&](Context& context) {
        if (!context.has_device(device)) return Error::kInvalidDevice;
        Context::select_device(static_cast<unsigned>(device));
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaInitDevice(int device, unsigned, unsigned) {
    return call([&](Context& context) { return check_device(context, device); });
}
LOCKSTEP_CUDA Error cudaSetValidDevices(int* devices, int count) {
    return call([&](Context& context) {
        if (!devices && count != 0) return Error::kInvalidValue;
        for (int i = 0; i < count; ++i)
            if (!context.has_device(devices[i])) return Error::kInvalidDevice;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaChooseDevice(int* device, const void* properties) {
    return call([&](Context&) { return properties ? store(device, 0) : Error::kInvalidValue; });
}

LOCKSTEP_CUDA Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
    return call([&](Context& context) {
        constexpr int kPciBusIdAttribute = 33;
        if (!context.has_device(device)) return Error::kInvalidDevice;
        if (attribute == kPciBusIdAttribute) return store(value, device);
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

Error pci_bus_id(Context& context, char* text, int bytes, int device) {
    if (!context.has_device(device)) return Error::kInvalidDevice;
    const std::string id = pci_bus_id(device);
    if (!text || bytes <= static_cast<int>(id.size())) return Error::kInvalidValue;
    std::strcpy(text, id.c_str());
    return Error::kSuccess;
}
Error device_of_pci_bus_id(Context& context, int* device, const char* text) {
    if (!text) return Error::kInvalidValue;
    for (int i = 0; context.has_device(i); ++i)
        if (pci_bus_id(i) == text) return store(device, i);
    return Error::kInvalidDevice;
}
LOCKSTEP_CUDA Error cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
    return call([&](Context& context) { return pci_bus_id(context, text, bytes, device); });
}
LOCKSTEP_CUDA Error cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return call([&](Context& context) { return device_of_pci_bus_id(context, device, text); });
}
LOCKSTEP_CUDA Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call([&](Context&) {
        if (least) *least = 0;
        if (greatest) *greatest = -5;
        return Error::kSuccess;
    });
}

Error can_access_peer(Context& context, int* can, int device, int peer) {
    if (!context.has_device(device) || !context.has_device(peer)) return Error::kInvalidDevice;
    return store(can, device != peer && can_access(context, device, peer) ? 1 : 0);
}
Error enable_peer_access(Context& context, int peer) {
    const auto device = static_cast<int>(Context::current_device());
    if (!are_peers(context, device, peer)) return Error::kInvalidDevice;
    if (!can_access(context, device, peer)) return Error::kPeerAccessUnsupported;
    DeviceGroup& group = *context.group();
    const auto from = static_cast<unsigned>(device), to = static_cast<unsigned>(peer);
    if (group.has_peer_access(from, to)) return Error::kPeerAccessAlreadyEnabled;
    group.set_peer_access(from, to, true);
    return Error::kSuccess;
}
Error disable_peer_access(Context& context, int peer) {
    const auto device = static_cast<int>(Context::current_device());
    if (!context.has_device(peer)) return Error::kInvalidDevice;
    const auto from = static_cast<unsigned>(device), to = static_cast<unsigned>(peer);
    if (device == peer || context.group() == nullptr || !context.group()->has_peer_access(from, to))
        return Error::kPeerAccessNotEnabled;
    if (context.timeline() != nullptr) context.wait_for_all();
    context.group()->set_peer_access(from, to, false);
    return Error::kSuccess;
}
Error peer_attribute(Context& context, int* value, int attribute, int device, int peer) {
    enum { kRank = 1, kAccess, kAtomics, kArrays };
    if (!are_peers(context, device, peer)) return Error::kInvalidDevice;
    const bool can = can_access(context, device, peer);
    switch (attribute) {
        case kRank:
        case kArrays:
            return store(value, 0);
        case kAccess:
        case kAtomics:
            return store(value, can ? 1 : 0);
        default:
            return Error::kInvalidValue;
    }
}
LOCKSTEP_CUDA Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return call([&](Context& context) { return can_access_peer(context, can, device, peer); });
}
LOCKSTEP_CUDA Error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    return call([&](Context& context) {
        return flags != 0 ? Error::kInvalidValue : enable_peer_access(context, peer);
    });
}
LOCKSTEP_CUDA Error cudaDeviceDisablePeerAccess(int peer) {
    return call_and_wait([&](Context& context) { return disable_peer_access(context, peer); });
}
LOCKSTEP_CUDA Error cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
    return call(
        [&](Context& context) { return peer_attribute(context, value, attribute, device, peer); });
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
