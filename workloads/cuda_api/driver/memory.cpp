// SPDX-License-Identifier: Apache-2.0
// Allocations of all kinds, pools, and questions about addresses.
#include <cstring>

#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

void** address_of(Pointer* pointer) {
    return reinterpret_cast<void**>(pointer);
}

/// The driver refuses to allocate nothing, which the runtime does.
Result allocate(Pointer* pointer, std::size_t bytes, auto body) {
    if (const Result error = check_context(); error != Result::kSuccess) return error;
    if (!pointer || bytes == 0) return Result::kInvalidValue;
    return call(body);
}

/// CU_POINTER_ATTRIBUTE_...
enum PointerAttribute : int {
    kContext = 1,
    kMemoryType,
    kDevicePointer,
    kHostPointer,
    kSyncMemops = 6,
    kBufferId,
    kIsManaged,
    kDeviceOrdinal,
    kIsLegacyIpcCapable,
    kRangeStart,
    kRangeSize,
    kMapped,
    kAllowedHandleTypes,
    kIsRdmaCapable,
    kAccessFlags,
    kPool,
};

template <class T>
Error put(void* data, T value) {
    std::memcpy(data, &value, sizeof(value));
    return Error::kSuccess;
}

Error attribute(cuda::Context& context, void* data, PointerAttribute which, Pointer pointer) {
    const AllocationInfo info = context.memory.find(host_pointer(pointer));
    if (!data || info.bytes == 0) return Error::kInvalidValue;
    const bool on_host = info.kind == MemoryKind::kHost || info.kind == MemoryKind::kRegisteredHost;
    constexpr int kReadWrite = 3;
    switch (which) {
        case kContext:
            return put(data, current_context());
        case kMemoryType:
            return put(data, on_host ? kHostMemory : kDeviceMemory);
        case kDevicePointer:
            return put(data, pointer);
        case kHostPointer:
            if (info.kind == MemoryKind::kDevice) return Error::kInvalidValue;
            return put(data, pointer);
        case kSyncMemops:
        case kIsLegacyIpcCapable:
        case kIsRdmaCapable:
            return put(data, 0);
        case kBufferId:
            return put(data, static_cast<std::uint64_t>(info.begin));  // unique while it lives
        case kIsManaged:
            return put(data, static_cast<int>(info.kind == MemoryKind::kManaged));
        case kDeviceOrdinal:
            return put(data, 0);
        case kRangeStart:
            return put(data, static_cast<Pointer>(info.begin));
        case kRangeSize:
            return put(data, static_cast<std::size_t>(info.bytes));
        case kMapped:
            return put(data, 1);
        case kAllowedHandleTypes:
            return put(data, std::uint64_t{0});
        case kAccessFlags:
            return put(data, kReadWrite);
        case kPool:
            return put(data, static_cast<MemoryPool*>(nullptr));
        default:
            return Error::kInvalidValue;
    }
}

/// What cuPointerGetAttributes writes for memory that is not the device's.
void put_nothing(void* data, PointerAttribute which) {
    constexpr int kNoDevice = -2;
    switch (which) {
        case kContext:
        case kDevicePointer:
        case kHostPointer:
        case kBufferId:
        case kRangeStart:
        case kRangeSize:
        case kAllowedHandleTypes:
        case kPool:
            put(data, std::uint64_t{0});
            break;
        case kDeviceOrdinal:
            put(data, kNoDevice);
            break;
        default:
            put(data, 0);
    }
}

}  // namespace

LOCKSTEP_DRIVER(cuMemAlloc_v2, (Pointer * pointer, std::size_t bytes)) {
    return allocate(pointer, bytes, [&] { return cudaMalloc(address_of(pointer), bytes); });
}
LOCKSTEP_DRIVER(cuMemFree_v2, (Pointer pointer)) {
    return call([&] { return cudaFree(host_pointer(pointer)); });
}
LOCKSTEP_DRIVER(cuMemAllocPitch_v2, (Pointer * pointer, std::size_t* pitch, std::size_t width,
                                     std::size_t height, unsigned element_bytes)) {
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
        return Result::kInvalidValue;
    return allocate(pointer, width * height,
                    [&] { return cudaMallocPitch(address_of(pointer), pitch, width, height); });
}
LOCKSTEP_DRIVER(cuMemAllocManaged, (Pointer * pointer, std::size_t bytes, unsigned flags)) {
    return allocate(pointer, bytes,
                    [&] { return cudaMallocManaged(address_of(pointer), bytes, flags); });
}
LOCKSTEP_DRIVER(cuMemAllocHost_v2, (void** pointer, std::size_t bytes)) {
    return call([&] { return cudaMallocHost(pointer, bytes); });
}
LOCKSTEP_DRIVER(cuMemHostAlloc, (void** pointer, std::size_t bytes, unsigned flags)) {
    return call([&] { return cudaHostAlloc(pointer, bytes, flags); });
}
LOCKSTEP_DRIVER(cuMemFreeHost, (void* pointer)) {
    return call([&] { return cudaFreeHost(pointer); });
}
LOCKSTEP_DRIVER(cuMemHostRegister_v2, (void* pointer, std::size_t bytes, unsigned flags)) {
    return call([&] { return cudaHostRegister(pointer, bytes, flags); });
}
LOCKSTEP_DRIVER(cuMemHostUnregister, (void* pointer)) {
    return call([&] { return cudaHostUnregister(pointer); });
}
LOCKSTEP_DRIVER(cuMemHostGetDevicePointer_v2, (Pointer * device, void* host, unsigned flags)) {
    return call([&] { return cudaHostGetDevicePointer(address_of(device), host, flags); });
}
LOCKSTEP_DRIVER(cuMemHostGetFlags, (unsigned* flags, void* host)) {
    return call([&] { return cudaHostGetFlags(flags, host); });
}
LOCKSTEP_DRIVER(cuMemGetInfo_v2, (std::size_t * free, std::size_t* total)) {
    return call([&] { return cudaMemGetInfo(free, total); });
}
LOCKSTEP_DRIVER(cuMemGetAddressRange_v2, (Pointer * begin, std::size_t* bytes, Pointer pointer)) {
    return in_context([&](cuda::Context& context) {
        const AllocationInfo info = context.memory.find(host_pointer(pointer));
        if (info.bytes == 0) return Error::kSymbolNotFound;
        if (begin) *begin = info.begin;
        if (bytes) *bytes = info.bytes;
        return Error::kSuccess;
    });
}

LOCKSTEP_DRIVER(cuMemAllocAsync, (Pointer * pointer, std::size_t bytes, Stream* stream)) {
    return allocate(pointer, bytes,
                    [&] { return cudaMallocAsync(address_of(pointer), bytes, stream); });
}
LOCKSTEP_DRIVER(cuMemAllocFromPoolAsync,
                (Pointer * pointer, std::size_t bytes, MemoryPool* pool, Stream* stream)) {
    return allocate(pointer, bytes, [&] {
        return cudaMallocFromPoolAsync(address_of(pointer), bytes, pool, stream);
    });
}
LOCKSTEP_DRIVER(cuMemFreeAsync, (Pointer pointer, Stream* stream)) {
    return call([&] { return cudaFreeAsync(host_pointer(pointer), stream); });
}
LOCKSTEP_DRIVER(cuMemPoolCreate, (MemoryPool * *pool, const abi::MemPoolProps* properties)) {
    return call([&] { return cudaMemPoolCreate(pool, properties); });
}
LOCKSTEP_DRIVER(cuMemPoolDestroy, (MemoryPool * pool)) {
    return call([&] { return cudaMemPoolDestroy(pool); });
}
LOCKSTEP_DRIVER(cuMemPoolTrimTo, (MemoryPool * pool, std::size_t bytes)) {
    return call([&] { return cudaMemPoolTrimTo(pool, bytes); });
}
LOCKSTEP_DRIVER(cuMemPoolSetAttribute,
                (MemoryPool * pool, abi::MemPoolAttribute which, void* value)) {
    return call([&] { return cudaMemPoolSetAttribute(pool, which, value); });
}
LOCKSTEP_DRIVER(cuMemPoolGetAttribute,
                (MemoryPool * pool, abi::MemPoolAttribute which, void* value)) {
    return call([&] { return cudaMemPoolGetAttribute(pool, which, value); });
}
LOCKSTEP_DRIVER(cuMemPoolSetAccess,
                (MemoryPool * pool, const abi::MemAccessDesc* list, std::size_t count)) {
    return call([&] { return cudaMemPoolSetAccess(pool, list, count); });
}
LOCKSTEP_DRIVER(cuMemPoolGetAccess, (int* flags, MemoryPool* pool, abi::MemLocation* location)) {
    return call([&] { return cudaMemPoolGetAccess(flags, pool, location); });
}

LOCKSTEP_DRIVER(cuMemAdvise, (Pointer pointer, std::size_t bytes, int advice, Device)) {
    return call([&] { return cudaMemAdvise(host_pointer(pointer), bytes, advice, 0); });
}
LOCKSTEP_DRIVER(cuMemAdvise_v2,
                (Pointer pointer, std::size_t bytes, int advice, abi::MemLocation)) {
    return call([&] { return cudaMemAdvise(host_pointer(pointer), bytes, advice, 0); });
}
LOCKSTEP_DRIVER(cuMemPrefetchAsync, (Pointer pointer, std::size_t bytes, Device, Stream*)) {
    return call([&] { return cudaMemPrefetchAsync(host_pointer(pointer), bytes); });
}
LOCKSTEP_DRIVER(cuMemPrefetchAsync_v2,
                (Pointer pointer, std::size_t bytes, abi::MemLocation, unsigned, Stream*)) {
    return call([&] { return cudaMemPrefetchAsync(host_pointer(pointer), bytes); });
}
LOCKSTEP_DRIVER(cuMemRangeGetAttribute,
                (void* data, std::size_t size, int which, Pointer pointer, std::size_t bytes)) {
    return call(
        [&] { return cudaMemRangeGetAttribute(data, size, which, host_pointer(pointer), bytes); });
}
LOCKSTEP_DRIVER(cuMemRangeGetAttributes, (void** data, std::size_t* sizes, int* which,
                                          std::size_t count, Pointer pointer, std::size_t bytes)) {
    return call([&] {
        return cudaMemRangeGetAttributes(data, sizes, which, count, host_pointer(pointer), bytes);
    });
}
LOCKSTEP_DRIVER(cuStreamAttachMemAsync,
                (Stream * stream, Pointer pointer, std::size_t bytes, unsigned flags)) {
    return call(
        [&] { return cudaStreamAttachMemAsync(stream, host_pointer(pointer), bytes, flags); });
}

LOCKSTEP_DRIVER(cuPointerGetAttribute, (void* data, PointerAttribute which, Pointer pointer)) {
    return in_device(
        [&](cuda::Context& context) { return attribute(context, data, which, pointer); });
}
LOCKSTEP_DRIVER(cuPointerGetAttributes,
                (unsigned count, PointerAttribute* which, void** data, Pointer pointer)) {
    return in_device([&](cuda::Context& context) {
        if (!which || !data) return Error::kInvalidValue;
        for (unsigned i = 0; i < count; ++i)
            if (attribute(context, data[i], which[i], pointer) != Error::kSuccess && data[i])
                put_nothing(data[i], which[i]);
        return Error::kSuccess;
    });
}
LOCKSTEP_DRIVER(cuPointerSetAttribute,
                (const void* value, PointerAttribute which, Pointer pointer)) {
    return in_context([&](cuda::Context& context) {
        const bool known = context.memory.find(host_pointer(pointer)).bytes != 0;
        return value && which == kSyncMemops && known ? Error::kSuccess : Error::kInvalidValue;
    });
}

}  // namespace lockstep::cuda::driver
