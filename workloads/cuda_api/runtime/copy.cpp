// SPDX-License-Identifier: Apache-2.0
// Copies and fills of all shapes, waiting and asynchronous.
#include <utility>

#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/runtime/graph_nodes.h"

namespace lockstep::cuda {
namespace {

Error submit(Stream* stream, const Operation& operation) {
    return call([&](Context& context) { return context.streams.submit(stream, operation); });
}

/// A call without a stream works in the default stream and waits for it.
Error submit_and_wait(const Operation& operation) {
    return call_and_wait([&](Context& context) {
        return context.streams.submit(nullptr, operation, Returns::kWhenDone);
    });
}

Copy line(void* dst, const void* src, std::size_t bytes, abi::MemcpyKind kind) {
    return {dst, src, bytes, 1, 1, bytes, bytes, bytes, bytes, kind};
}

Copy plane(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
           std::size_t width, std::size_t height, abi::MemcpyKind kind) {
    return {dst, src, width, height, 1, dst_pitch, src_pitch, 0, 0, kind};
}

Fill bytes_of(void* pointer, int value, std::size_t bytes) {
    return {pointer, static_cast<unsigned>(value), 1, bytes, 1, 1, bytes, bytes};
}

Fill plane(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return {pointer, static_cast<unsigned>(value), 1, width, height, 1, pitch, 0};
}

Fill box(abi::PitchedPointer pointer, int value, abi::Extent extent) {
    return {
        pointer.ptr,   static_cast<unsigned>(value), 1, extent.width, extent.height, extent.depth,
        pointer.pitch, pointer.pitch * pointer.ysize};
}

bool have_devices(int to, int from) {
    return call([&](Context& context) {
               return context.has_device(to) && context.has_device(from) ? Error::kSuccess
                                                                         : Error::kNotReady;
           }) == Error::kSuccess;
}

/// Addresses tell which devices they are of.
abi::Memcpy3D without_devices(const abi::Memcpy3DPeer& p) {
    return {p.srcArray, p.srcPos, p.srcPtr, p.dstArray,
            p.dstPos,   p.dstPtr, p.extent, abi::kDefault};
}

/// One end of a symbol copy; the symbol's module is loaded for it.
template <class Body>
Error with_symbol(Context& context, const void* symbol, std::size_t bytes, std::size_t offset,
                  Body&& body) {
    void* address = nullptr;
    std::size_t size = 0;
    const Error error = context.modules.find_variable(symbol, address, size);
    if (error != Error::kSuccess) return error;
    if (offset > size || bytes > size - offset) return Error::kInvalidValue;
    return body(static_cast<char*>(address) + offset);
}

Returns returns(Waits waits) {
    return waits == Waits::kYes ? Returns::kWhenDone : Returns::kWhenSubmitted;
}

Error to_symbol(Waits waits, const void* symbol, const void* src, std::size_t bytes,
                std::size_t offset, abi::MemcpyKind kind, Stream* stream) {
    return call(waits, [&](Context& context) {
        if (kind != abi::kHostToDevice && kind != abi::kDeviceToDevice && kind != abi::kDefault)
            return Error::kInvalidMemcpyDirection;
        return with_symbol(context, symbol, bytes, offset, [&](void* dst) {
            return context.streams.submit(stream, line(dst, src, bytes, kind), returns(waits));
        });
    });
}

Error from_symbol(Waits waits, void* dst, const void* symbol, std::size_t bytes, std::size_t offset,
                  abi::MemcpyKind kind, Stream* stream) {
    return call(waits, [&](Context& context) {
        if (kind != abi::kDeviceToHost && kind != abi::kDeviceToDevice && kind != abi::kDefault)
            return Error::kInvalidMemcpyDirection;
        return with_symbol(context, symbol, bytes, offset, [&](const void* src) {
            return context.streams.submit(stream, line(dst, src, bytes, kind), returns(waits));
        });
    });
}

Error invalid() {
    return call([](Context&) { return Error::kInvalidValue; });
}

}  // namespace

Copy copy_of(const abi::Memcpy3D& p) {
    // Where an array takes part, the extent's width and the array's position count its texels.
    std::size_t element = 1;
    struct Side {
        char* begin;
        std::size_t pitch, slice;
    };
    const auto side = [&](void* handle, const abi::PitchedPointer& pointer,
                          const abi::Position& position) -> Side {
        if (handle == nullptr)
            return {static_cast<char*>(pointer.ptr) +
                        (position.z * pointer.ysize + position.y) * pointer.pitch + position.x,
                    pointer.pitch, pointer.pitch * pointer.ysize};
        const auto& array = *static_cast<const Array*>(handle);
        element = array.texel_bytes();
        return {array.at(position.x * element, position.y, position.z), array.image.pitch,
                array.image.slice};
    };
    const Side dst = side(p.dstArray, p.dstPtr, p.dstPos);
    const Side src = side(p.srcArray, p.srcPtr, p.srcPos);
    return {dst.begin,       src.begin,      p.extent.width * element,
            p.extent.height, p.extent.depth, dst.pitch,
            src.pitch,       dst.slice,      src.slice,
            p.kind};
}

LOCKSTEP_CUDA Error cudaMemcpy(void* dst, const void* src, std::size_t bytes,
                               abi::MemcpyKind kind) {
    return submit_and_wait(line(dst, src, bytes, kind));
}
LOCKSTEP_CUDA Error cudaMemcpyAsync(void* dst, const void* src, std::size_t bytes,
                                    abi::MemcpyKind kind, Stream* stream) {
    return submit(stream, line(dst, src, bytes, kind));
}
LOCKSTEP_CUDA Error cudaMemcpyPeer(void* dst, int to, const void* src, int from,
                                   std::size_t bytes) {
    if (!have_devices(to, from)) return call([](Context&) { return Error::kInvalidDevice; });
    return submit_and_wait(line(dst, src, bytes, abi::kDeviceToDevice));
}
LOCKSTEP_CUDA Error cudaMemcpyPeerAsync(void* dst, int to, const void* src, int from,
                                        std::size_t bytes, Stream* stream) {
    if (!have_devices(to, from)) return call([](Context&) { return Error::kInvalidDevice; });
    return submit(stream, line(dst, src, bytes, abi::kDeviceToDevice));
}
LOCKSTEP_CUDA Error cudaMemcpy2D(void* dst, std::size_t dst_pitch, const void* src,
                                 std::size_t src_pitch, std::size_t width, std::size_t height,
                                 abi::MemcpyKind kind) {
    return submit_and_wait(plane(dst, dst_pitch, src, src_pitch, width, height, kind));
}
LOCKSTEP_CUDA Error cudaMemcpy2DAsync(void* dst, std::size_t dst_pitch, const void* src,
                                      std::size_t src_pitch, std::size_t width, std::size_t height,
                                      abi::MemcpyKind kind, Stream* stream) {
    return submit(stream, plane(dst, dst_pitch, src, src_pitch, width, height, kind));
}
LOCKSTEP_CUDA Error cudaMemcpy3D(const abi::Memcpy3D* p) {
    return p ? submit_and_wait(copy_of(*p)) : invalid();
}
LOCKSTEP_CUDA Error cudaMemcpy3DAsync(const abi::Memcpy3D* p, Stream* stream) {
    return p ? submit(stream, copy_of(*p)) : invalid();
}
LOCKSTEP_CUDA Error cudaMemcpy3DPeer(const abi::Memcpy3DPeer* p) {
    return p ? submit_and_wait(copy_of(without_devices(*p))) : invalid();
}
LOCKSTEP_CUDA Error cudaMemcpy3DPeerAsync(const abi::Memcpy3DPeer* p, Stream* stream) {
    return p ? submit(stream, copy_of(without_devices(*p))) : invalid();
}

LOCKSTEP_CUDA Error cudaMemcpyToSymbol(const void* symbol, const void* src, std::size_t bytes,
                                       std::size_t offset, abi::MemcpyKind kind) {
    return to_symbol(Waits::kYes, symbol, src, bytes, offset, kind, nullptr);
}
LOCKSTEP_CUDA Error cudaMemcpyToSymbolAsync(const void* symbol, const void* src, std::size_t bytes,
                                            std::size_t offset, abi::MemcpyKind kind,
                                            Stream* stream) {
    return to_symbol(Waits::kNo, symbol, src, bytes, offset, kind, stream);
}
LOCKSTEP_CUDA Error cudaMemcpyFromSymbol(void* dst, const void* symbol, std::size_t bytes,
                                         std::size_t offset, abi::MemcpyKind kind) {
    return from_symbol(Waits::kYes, dst, symbol, bytes, offset, kind, nullptr);
}
LOCKSTEP_CUDA Error cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, std::size_t bytes,
                                              std::size_t offset, abi::MemcpyKind kind,
                                              Stream* stream) {
    return from_symbol(Waits::kNo, dst, symbol, bytes, offset, kind, stream);
}

/// The attributes say from when on a source may be read, which matters to queues only.
LOCKSTEP_CUDA Error cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs,
                                         const std::size_t* sizes, std::size_t count, void*,
                                         std::size_t*, std::size_t, Stream* stream) {
    return call([&](Context& context) {
        if (!dsts || !srcs || !sizes || count == 0) return Error::kInvalidValue;
        for (std::size_t i = 0; i < count; ++i) {
            const Error error =
                context.streams.submit(stream, line(dsts[i], srcs[i], sizes[i], abi::kDefault));
            if (error != Error::kSuccess) return error;
        }
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaMemset(void* pointer, int value, std::size_t bytes) {
    return submit_and_wait(bytes_of(pointer, value, bytes));
}
LOCKSTEP_CUDA Error cudaMemsetAsync(void* pointer, int value, std::size_t bytes, Stream* stream) {
    return submit(stream, bytes_of(pointer, value, bytes));
}
LOCKSTEP_CUDA Error cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                                 std::size_t height) {
    return submit_and_wait(plane(pointer, pitch, value, width, height));
}
LOCKSTEP_CUDA Error cudaMemset2DAsync(void* pointer, std::size_t pitch, int value,
                                      std::size_t width, std::size_t height, Stream* stream) {
    return submit(stream, plane(pointer, pitch, value, width, height));
}
LOCKSTEP_CUDA Error cudaMemset3D(abi::PitchedPointer pointer, int value, abi::Extent extent) {
    return submit_and_wait(box(pointer, value, extent));
}
LOCKSTEP_CUDA Error cudaMemset3DAsync(abi::PitchedPointer pointer, int value, abi::Extent extent,
                                      Stream* stream) {
    return submit(stream, box(pointer, value, extent));
}

}  // namespace lockstep::cuda
