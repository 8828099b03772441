// SPDX-License-Identifier: Apache-2.0
// Allocation of device, host and managed memory, and questions about addresses.
#include <cstring>

#include "workloads/cuda_api/runtime/call.h"

namespace lockstep::cuda {
namespace {

Error allocate(void** pointer, std::size_t bytes, MemoryKind kind, unsigned flags = 0) {
    return call_and_wait(
        [&](Context& context) { return context.memory.allocate(pointer, bytes, kind, flags); });
}

/// Where managed memory was told to lie. Hints are not kept, so it is nowhere in particular.
Error range_attribute(Context& context, void* data, std::size_t size, int attribute,
                      const void* pointer, std::size_t bytes) {
    constexpr int kReadMostly = 1, kAccessedBy = 3, kNoDevice = -2;
    if (!data || size < sizeof(int) || attribute < 1 || attribute > 8 ||
        !context.memory.accessible(pointer, bytes, true))
        return Error::kInvalidValue;
    const int value = attribute == kReadMostly ? 0 : kNoDevice;
    const std::size_t count = attribute == kAccessedBy ? size / sizeof(int) : 1;
    for (std::size_t i = 0; i < count; ++i) static_cast<int*>(data)[i] = value;
    return Error::kSuccess;
}

constexpr unsigned kHostAllocFlags = 0x07, kHostRegisterFlags = 0x0f;
constexpr unsigned kHostMapped = 0x02;

}  // namespace

LOCKSTEP_CUDA Error cudaMalloc(void** pointer, std::size_t bytes) {
    return allocate(pointer, bytes, MemoryKind::kDevice);
}
LOCKSTEP_CUDA Error cudaMallocHost(void** pointer, std::size_t bytes) {
    return allocate(pointer, bytes, MemoryKind::kHost, kHostMapped);
}
LOCKSTEP_CUDA Error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    if ((flags & ~kHostAllocFlags) != 0) return call([](Context&) { return Error::kInvalidValue; });
    return allocate(pointer, bytes, MemoryKind::kHost, flags | kHostMapped);
}
LOCKSTEP_CUDA Error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
    constexpr unsigned kGlobal = 1, kHost = 2;
    if (bytes == 0 || (flags != kGlobal && flags != kHost))
        return call([](Context&) { return Error::kInvalidValue; });
    return allocate(pointer, bytes, MemoryKind::kManaged);
}

LOCKSTEP_CUDA Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                    std::size_t height) {
    return call_and_wait([&](Context& context) {
        if (!pointer || !pitch) return Error::kInvalidValue;
        abi::PitchedPointer result{};
        const Error error = context.memory.allocate_pitched(result, width, height, 1);
        *pointer = result.ptr;
        *pitch = result.pitch;
        return error;
    });
}
LOCKSTEP_CUDA Error cudaMalloc3D(abi::PitchedPointer* pointer, abi::Extent extent) {
    return call_and_wait([&](Context& context) {
        if (!pointer) return Error::kInvalidValue;
        return context.memory.allocate_pitched(*pointer, extent.width, extent.height, extent.depth);
    });
}

LOCKSTEP_CUDA Error cudaFree(void* pointer) {
    return call_and_wait([&](Context& context) {
        if (pointer) context.wait_for_all();
        return context.memory.free_device(pointer);
    });
}
LOCKSTEP_CUDA Error cudaFreeHost(void* pointer) {
    return call_and_wait([&](Context& context) {
        if (pointer) context.wait_for_all();
        return context.memory.free_host(pointer);
    });
}

LOCKSTEP_CUDA Error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
    return call_and_wait([&](Context& context) {
        if ((flags & ~kHostRegisterFlags) != 0) return Error::kInvalidValue;
        return context.memory.register_host(pointer, bytes, flags | kHostMapped);
    });
}
LOCKSTEP_CUDA Error cudaHostUnregister(void* pointer) {
    return call_and_wait([&](Context& context) {
        context.wait_for_all();
        return context.memory.unregister_host(pointer);
    });
}
LOCKSTEP_CUDA Error cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
    return call([&](Context& context) {
        const AllocationInfo info = context.memory.find(host);
        if (!device || flags != 0 || info.bytes == 0 || info.kind == MemoryKind::kDevice)
            return Error::kInvalidValue;
        *device = host;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaHostGetFlags(unsigned* flags, void* host) {
    return call([&](Context& context) {
        return flags ? context.memory.host_flags(host, *flags) : Error::kInvalidValue;
    });
}

LOCKSTEP_CUDA Error cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return call([&](Context& context) {
        if (free) *free = context.device().free_bytes();
        if (total) *total = context.device().total_bytes();
        return Error::kSuccess;
    });
}

// Hints about where managed memory should lie; it lies where both sides reach it. The location is
// an int up to CUDA 12 and a structure of two from its _v2 on, which the same registers carry.
LOCKSTEP_CUDA Error cudaMemAdvise(const void* pointer, std::size_t bytes, int advice,
                                  std::uint64_t) {
    return call([&](Context& context) {
        if (advice < 1 || advice > 6 || bytes == 0 ||
            !context.memory.accessible(pointer, bytes, true))
            return Error::kInvalidValue;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, ...) {
    return call([&](Context& context) {
        return bytes != 0 && context.memory.accessible(pointer, bytes, true) ? Error::kSuccess
                                                                             : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaStreamAttachMemAsync(Stream* stream, void* pointer, std::size_t, unsigned) {
    return call([&](Context& context) {
        if (!context.streams.find(stream)) return Error::kInvalidResourceHandle;
        return context.memory.find(pointer).bytes != 0 ? Error::kSuccess : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaMemRangeGetAttribute(void* data, std::size_t size, int attribute,
                                             const void* pointer, std::size_t bytes) {
    return call([&](Context& context) {
        return range_attribute(context, data, size, attribute, pointer, bytes);
    });
}
LOCKSTEP_CUDA Error cudaMemRangeGetAttributes(void** data, std::size_t* sizes, int* attributes,
                                              std::size_t count, const void* pointer,
                                              std::size_t bytes) {
    return call([&](Context& context) {
        if (!data || !sizes || !attributes || count == 0) return Error::kInvalidValue;
        Error error = Error::kSuccess;
        for (std::size_t i = 0; i < count && error == Error::kSuccess; ++i)
            error = range_attribute(context, data[i], sizes[i], attributes[i], pointer, bytes);
        return error;
    });
}
LOCKSTEP_CUDA Error cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes,
                                              std::size_t count, void*, std::size_t*, std::size_t,
                                              unsigned long long flags, Stream* stream) {
    return call([&](Context& context) {
        if (!context.streams.find(stream)) return Error::kInvalidResourceHandle;
        if (!pointers || !sizes || count == 0 || flags != 0) return Error::kInvalidValue;
        for (std::size_t i = 0; i < count; ++i)
            if (!context.memory.accessible(pointers[i], sizes[i], true))
                return Error::kInvalidValue;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return call([&](Context& context) {
        std::size_t size = 0;
        return pointer ? context.modules.find_variable(symbol, *pointer, size)
                       : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGetSymbolSize(std::size_t* size, const void* symbol) {
    return call([&](Context& context) {
        void* pointer = nullptr;
        return size ? context.modules.find_variable(symbol, pointer, *size) : Error::kInvalidValue;
    });
}

/// A plain constructor; what takes its result is refused by name.
LOCKSTEP_CUDA abi::ChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return {x, y, z, w, kind};
}

}  // namespace lockstep::cuda
