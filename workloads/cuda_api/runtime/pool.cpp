// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation. Memory is allocated at once and freed when its stream comes to it; a
// pool keeps nothing back: its reserved memory is what is in use.
#include <cstring>

#include "workloads/cuda_api/runtime/call.h"

namespace lockstep::cuda {
namespace {

Error allocate(Context& context, MemoryPool* pool, void** pointer, std::size_t bytes,
               Stream* handle) {
    Stream* stream = context.streams.find(handle);
    if (!stream) return Error::kInvalidResourceHandle;
    if (!pointer || !context.memory.is_pool(pool)) return Error::kInvalidValue;
    const Error error = context.memory.allocate_from(*pool, pointer, bytes);
    if (error != Error::kSuccess || !*pointer || !stream->capturing()) return error;
    context.memory.keep_for_graph(*pointer);
    Allocate operation;
    operation.parameters.bytesize = bytes;
    operation.parameters.dptr = *pointer;
    return context.streams.submit(handle, operation);
}

Error free(Context& context, void* pointer, Stream* handle) {
    Stream* stream = context.streams.find(handle);
    if (!stream) return Error::kInvalidResourceHandle;
    const bool is_queued = context.timeline() != nullptr && context.memory.find(pointer).bytes != 0;
    if (stream->capturing() || is_queued) return context.streams.submit(handle, Free{pointer});
    return pointer ? context.memory.free_device(pointer) : Error::kInvalidValue;
}

Error with_pool(MemoryPool* pool, const std::function<Error(Context&)>& body) {
    return call([&](Context& context) {
        return context.memory.is_pool(pool) ? body(context) : Error::kInvalidValue;
    });
}

Error give_pool(MemoryPool** result, int device, MemoryPool* (Memory::*pool)()) {
    return call([&](Context& context) {
        if (!context.has_device(device)) return Error::kInvalidDevice;
        if (!result) return Error::kInvalidValue;
        *result = (context.memory.*pool)();
        return Error::kSuccess;
    });
}

}  // namespace

LOCKSTEP_CUDA Error cudaMallocAsync(void** pointer, std::size_t bytes, Stream* stream) {
    return call([&](Context& context) {
        return allocate(context, context.memory.current_pool(), pointer, bytes, stream);
    });
}
LOCKSTEP_CUDA Error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, MemoryPool* pool,
                                            Stream* stream) {
    return call([&](Context& context) { return allocate(context, pool, pointer, bytes, stream); });
}
LOCKSTEP_CUDA Error cudaFreeAsync(void* pointer, Stream* stream) {
    return call([&](Context& context) { return free(context, pointer, stream); });
}

LOCKSTEP_CUDA Error cudaDeviceGetDefaultMemPool(MemoryPool** pool, int device) {
    return give_pool(pool, device, &Memory::default_pool);
}
LOCKSTEP_CUDA Error cudaDeviceGetMemPool(MemoryPool** pool, int device) {
    return give_pool(pool, device, &Memory::current_pool);
}
LOCKSTEP_CUDA Error cudaMemGetDefaultMemPool(MemoryPool** pool, abi::MemLocation* location, int) {
    return give_pool(pool, location ? location->id : 0, &Memory::default_pool);
}
LOCKSTEP_CUDA Error cudaMemGetMemPool(MemoryPool** pool, abi::MemLocation* location, int) {
    return give_pool(pool, location ? location->id : 0, &Memory::current_pool);
}
LOCKSTEP_CUDA Error cudaDeviceSetMemPool(int device, MemoryPool* pool) {
    return with_pool(pool, [&](Context& context) {
        if (!context.has_device(device)) return Error::kInvalidDevice;
        context.memory.set_current_pool(pool);
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaMemSetMemPool(abi::MemLocation* location, int, MemoryPool* pool) {
    return with_pool(pool, [&](Context& context) {
        if (!location || location->id != 0) return Error::kInvalidDevice;
        context.memory.set_current_pool(pool);
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaMemPoolCreate(MemoryPool** pool, const abi::MemPoolProps* properties) {
    return call([&](Context& context) {
        constexpr int kPinned = 1, kLocationDevice = 1;
        if (!pool || !properties || properties->allocType != kPinned) return Error::kInvalidValue;
        if (properties->location.type == kLocationDevice && properties->location.id != 0)
            return Error::kInvalidDevice;
        if (properties->handleTypes != 0) return Error::kNotSupported;
        *pool = context.memory.create_pool(*properties);
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaMemPoolDestroy(MemoryPool* pool) {
    return call([&](Context& context) { return context.memory.destroy_pool(pool); });
}
LOCKSTEP_CUDA Error cudaMemPoolTrimTo(MemoryPool* pool, std::size_t) {
    return with_pool(pool, [](Context&) { return Error::kSuccess; });
}
LOCKSTEP_CUDA Error cudaMemPoolSetAccess(MemoryPool* pool, const abi::MemAccessDesc* list,
                                         std::size_t count) {
    return with_pool(pool, [&](Context&) {
        for (std::size_t i = 0; i < count; ++i)
            if (list[i].location.id != 0) return Error::kInvalidDevice;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaMemPoolGetAccess(int* flags, MemoryPool* pool, abi::MemLocation* location) {
    return with_pool(pool, [&](Context&) {
        constexpr int kReadWrite = 3;
        if (!flags || !location || location->id != 0) return Error::kInvalidValue;
        *flags = kReadWrite;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaMemPoolSetAttribute(MemoryPool* pool, abi::MemPoolAttribute attribute,
                                            const void* value) {
    return with_pool(pool, [&](Context&) {
        if (!value) return Error::kInvalidValue;
        switch (attribute) {
            case abi::kReuseFollowEventDependencies:
            case abi::kReuseAllowOpportunistic:
            case abi::kReuseAllowInternalDependencies:
                std::memcpy(&pool->reuse[attribute - 1], value, sizeof(int));
                return Error::kSuccess;
            case abi::kReleaseThreshold:
                std::memcpy(&pool->release_threshold, value, sizeof(std::uint64_t));
                return Error::kSuccess;
            case abi::kReservedMemHigh:
            case abi::kUsedMemHigh:
                pool->used_high = pool->used;  // only 0 may be written: it resets the mark
                return Error::kSuccess;
            default:
                return Error::kInvalidValue;
        }
    });
}
LOCKSTEP_CUDA Error cudaMemPoolGetAttribute(MemoryPool* pool, abi::MemPoolAttribute attribute,
                                            void* value) {
    return with_pool(pool, [&](Context&) {
        if (!value) return Error::kInvalidValue;
        std::uint64_t number = 0;
        switch (attribute) {
            case abi::kReuseFollowEventDependencies:
            case abi::kReuseAllowOpportunistic:
            case abi::kReuseAllowInternalDependencies:
                std::memcpy(value, &pool->reuse[attribute - 1], sizeof(int));
                return Error::kSuccess;
            case abi::kReleaseThreshold:
                number = pool->release_threshold;
                break;
            case abi::kReservedMemCurrent:
            case abi::kUsedMemCurrent:
                number = pool->used;
                break;
            case abi::kReservedMemHigh:
            case abi::kUsedMemHigh:
                number = pool->used_high;
                break;
            default:
                return Error::kInvalidValue;
        }
        std::memcpy(value, &number, sizeof(number));
        return Error::kSuccess;
    });
}

}  // namespace lockstep::cuda
