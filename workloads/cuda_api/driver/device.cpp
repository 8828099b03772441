// SPDX-License-Identifier: Apache-2.0
// Devices and their attributes.
#include <algorithm>
#include <cstring>

#include "isa/sass/launch_limits.h"
#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

constexpr int kDriverVersion = 13000;

/// The body gets the properties of the device, which are those of all.
Result with_device(Device device, auto body) {
    return in_device([&](cuda::Context& context) {
        return context.has_device(device) ? body(context.properties()) : Error::kInvalidDevice;
    });
}

Result uuid(Uuid* result, Device device) {
    return with_device(device, [&](const cuda::DeviceProperties& properties) {
        if (!result) return Error::kInvalidValue;
        abi::DeviceProp13 all;
        properties.fill(all);
        std::memcpy(result, all.uuid, sizeof(all.uuid));
        return Error::kSuccess;
    });
}

Result pool(MemoryPool** result, Device device, MemoryPool* (Memory::*which)()) {
    return in_device([&](cuda::Context& context) {
        if (!context.has_device(device)) return Error::kInvalidDevice;
        context.device();
        return store(result, (context.memory.*which)());
    });
}

}  // namespace

LOCKSTEP_DRIVER(cuDriverGetVersion, (int* version)) {
    return result_of(store(version, kDriverVersion));
}
LOCKSTEP_DRIVER(cuDeviceGetCount, (int* count)) {
    return in_device([&](cuda::Context& context) {
        return store(count, static_cast<int>(context.device_count()));
    });
}
LOCKSTEP_DRIVER(cuDeviceGet, (Device * device, int ordinal)) {
    return in_device([&](cuda::Context& context) {
        return context.has_device(ordinal) ? store(device, ordinal) : Error::kInvalidDevice;
    });
}
LOCKSTEP_DRIVER(cuDeviceGetName, (char* name, int bytes, Device device)) {
    return with_device(device, [&](const cuda::DeviceProperties& properties) {
        if (!name || bytes <= 0) return Error::kInvalidValue;
        std::strncpy(name, properties.name.c_str(), static_cast<std::size_t>(bytes));
        name[bytes - 1] = '\0';
        return Error::kSuccess;
    });
}
LOCKSTEP_DRIVER(cuDeviceGetUuid, (Uuid * result, Device device)) {
    return uuid(result, device);
}
LOCKSTEP_DRIVER(cuDeviceGetUuid_v2, (Uuid * result, Device device)) {
    return uuid(result, device);
}
LOCKSTEP_DRIVER(cuDeviceGetLuid, (char*, unsigned*, Device device)) {
    return with_device(device, [](const cuda::DeviceProperties&) {
        return Error::kNotSupported;  // identifiers of Windows
    });
}
LOCKSTEP_DRIVER(cuDeviceTotalMem_v2, (std::size_t * bytes, Device device)) {
    return in_device([&](cuda::Context& context) {
        return context.has_device(device) ? store(bytes, context.device().total_bytes())
                                          : Error::kInvalidDevice;
    });
}
LOCKSTEP_DRIVER(cuDeviceGetAttribute, (int* value, int attribute, Device device)) {
    return with_device(device, [&](const cuda::DeviceProperties& properties) {
        constexpr int kPciBusId = 33, kTensorMapAccess = 127, kLast = 147;
        if (attribute == kPciBusId) return store(value, device);
        if (attribute == kTensorMapAccess) return store(value, properties.arch >= 90);
        if (attribute < 1 || attribute > kLast) return Error::kInvalidValue;
        return store(value, properties.attribute(attribute).value_or(0));
    });
}
LOCKSTEP_DRIVER(cuDeviceComputeCapability, (int* major, int* minor, Device device)) {
    return with_device(device, [&](const cuda::DeviceProperties& properties) {
        const Error error = store(major, properties.major());
        return error == Error::kSuccess ? store(minor, properties.minor()) : error;
    });
}
LOCKSTEP_DRIVER(cuDeviceGetProperties, (DeviceProperties * result, Device device)) {
    return with_device(device, [&](const cuda::DeviceProperties& from) {
        using Limits = cuda::DeviceProperties;
        if (!result) return Error::kInvalidValue;
        const auto attribute = [&](int id) { return from.attribute(id).value_or(0); };
        constexpr int kMaxPitch = 11, kTextureAlignment = 14;
        *result = {Limits::kMaxThreadsPerBlock,
                   {sass::kMaxBlock[0], sass::kMaxBlock[1], sass::kMaxBlock[2]},
                   {sass::kMaxGrid[0], sass::kMaxGrid[1], sass::kMaxGrid[2]},
                   static_cast<int>(Limits::kSharedPerBlock),
                   static_cast<int>(Limits::kConstantBytes),
                   Limits::kWarpSize,
                   attribute(kMaxPitch),
                   Limits::kRegistersPerBlock,
                   static_cast<int>(from.clock_khz),
                   attribute(kTextureAlignment)};
        return Error::kSuccess;
    });
}
LOCKSTEP_DRIVER(cuDeviceGetPCIBusId, (char* text, int bytes, Device device)) {
    return in_device(
        [&](cuda::Context& context) { return pci_bus_id(context, text, bytes, device); });
}
LOCKSTEP_DRIVER(cuDeviceGetByPCIBusId, (Device * device, const char* text)) {
    return in_device(
        [&](cuda::Context& context) { return device_of_pci_bus_id(context, device, text); });
}
LOCKSTEP_DRIVER(cuDeviceCanAccessPeer, (int* can, Device device, Device peer)) {
    return in_device(
        [&](cuda::Context& context) { return can_access_peer(context, can, device, peer); });
}
LOCKSTEP_DRIVER(cuDeviceGetP2PAttribute, (int* value, int attribute, Device device, Device peer)) {
    return in_device([&](cuda::Context& context) {
        return peer_attribute(context, value, attribute, device, peer);
    });
}
LOCKSTEP_DRIVER(cuDeviceGetExecAffinitySupport, (int* supported, int, Device device)) {
    return with_device(device, [&](const cuda::DeviceProperties&) { return store(supported, 0); });
}
LOCKSTEP_DRIVER(cuDeviceGetDefaultMemPool, (MemoryPool * *result, Device device)) {
    return pool(result, device, &Memory::default_pool);
}
LOCKSTEP_DRIVER(cuDeviceGetMemPool, (MemoryPool * *result, Device device)) {
    return pool(result, device, &Memory::current_pool);
}
LOCKSTEP_DRIVER(cuDeviceSetMemPool, (Device device, MemoryPool* pool)) {
    return in_device([&](cuda::Context& context) {
        if (!context.has_device(device)) return Error::kInvalidDevice;
        if (!context.memory.is_pool(pool)) return Error::kInvalidValue;
        context.memory.set_current_pool(pool);
        return Error::kSuccess;
    });
}

}  // namespace lockstep::cuda::driver
