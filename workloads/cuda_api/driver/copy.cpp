// SPDX-License-Identifier: Apache-2.0
// Copies and fills of all shapes, waiting and asynchronous.
#include "workloads/cuda_api/driver/copy.h"

#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

Result submit(Stream* stream, const Operation& operation) {
    return in_context(
        [&](cuda::Context& context) { return context.streams.submit(stream, operation); });
}

/// A call without a stream works in the default stream and waits for it.
Result submit_and_wait(const Operation& operation) {
    return in_context(
        [&](cuda::Context& context) {
            return context.streams.submit(nullptr, operation, Returns::kWhenDone);
        },
        Waits::kYes);
}

/// An array of the copy is one of the context's, and the box lies in it.
bool has_arrays(cuda::Context& context, const Memcpy3D& p) {
    const auto is_in = [&](const void* handle, std::size_t x, std::size_t y, std::size_t z) {
        const auto* const array = static_cast<const Array*>(handle);
        return context.arrays.is_array(array) &&
               contains({array, x, y, z}, p.WidthInBytes, p.Height, p.Depth);
    };
    return (p.srcMemoryType != kArrayMemory || is_in(p.srcArray, p.srcXInBytes, p.srcY, p.srcZ)) &&
           (p.dstMemoryType != kArrayMemory || is_in(p.dstArray, p.dstXInBytes, p.dstY, p.dstZ));
}

Copy line(void* dst, const void* src, std::size_t bytes, abi::MemcpyKind kind) {
    return {dst, src, bytes, 1, 1, bytes, bytes, bytes, bytes, kind};
}
Copy to_device(Pointer dst, const void* src, std::size_t bytes) {
    return line(host_pointer(dst), src, bytes, abi::kHostToDevice);
}
Copy to_host(void* dst, Pointer src, std::size_t bytes) {
    return line(dst, host_pointer(src), bytes, abi::kDeviceToHost);
}
Copy on_device(Pointer dst, Pointer src, std::size_t bytes) {
    return line(host_pointer(dst), host_pointer(src), bytes, abi::kDeviceToDevice);
}
Copy anywhere(Pointer dst, Pointer src, std::size_t bytes) {
    return line(host_pointer(dst), host_pointer(src), bytes, abi::kDefault);
}

/// Where a side of a copy begins (nullptr: its memory type is none), bytes from row to row and from
/// slice to slice.
struct Side {
    const char* begin = nullptr;
    std::size_t pitch = 0, slice = 0;
};
Side side(MemoryType type, const void* host, Pointer device, const void* array, std::size_t pitch,
          std::size_t height) {
    const void* begin = nullptr;
    switch (type) {
        case kHostMemory:
            begin = host;
            break;
        case kDeviceMemory:
        case kUnifiedMemory:
            begin = host_pointer(device);
            break;
        case kArrayMemory:
            if (const auto* a = static_cast<const Array*>(array))
                return {a->at(0, 0, 0), a->image.pitch, a->image.slice};
    }
    return {static_cast<const char*>(begin), pitch, pitch * height};
}

abi::MemcpyKind kind_of(MemoryType from, MemoryType to) {
    if (from == kUnifiedMemory || to == kUnifiedMemory) return abi::kDefault;
    if (from == kHostMemory) return to == kHostMemory ? abi::kHostToHost : abi::kHostToDevice;
    return to == kHostMemory ? abi::kDeviceToHost : abi::kDeviceToDevice;
}

Memcpy3D as_box(const Memcpy2D& p) {
    Memcpy3D box{};
    box.srcXInBytes = p.srcXInBytes;
    box.srcY = p.srcY;
    box.srcMemoryType = p.srcMemoryType;
    box.srcHost = p.srcHost;
    box.srcDevice = p.srcDevice;
    box.srcArray = p.srcArray;
    box.srcPitch = p.srcPitch;
    box.dstXInBytes = p.dstXInBytes;
    box.dstY = p.dstY;
    box.dstMemoryType = p.dstMemoryType;
    box.dstHost = p.dstHost;
    box.dstDevice = p.dstDevice;
    box.dstArray = p.dstArray;
    box.dstPitch = p.dstPitch;
    box.WidthInBytes = p.WidthInBytes;
    box.Height = p.Height;
    box.Depth = 1;
    return box;
}

/// A pitch of 0 means rows without a gap.
Copy copy_of(const Memcpy3D& p) {
    const std::size_t src_pitch = p.srcPitch ? p.srcPitch : p.WidthInBytes + p.srcXInBytes;
    const std::size_t dst_pitch = p.dstPitch ? p.dstPitch : p.WidthInBytes + p.dstXInBytes;
    const Side src =
        side(p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, src_pitch, p.srcHeight);
    const Side dst =
        side(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, dst_pitch, p.dstHeight);
    Copy copy{
        nullptr,   nullptr,   p.WidthInBytes, p.Height,  p.Depth,
        dst.pitch, src.pitch, dst.slice,      src.slice, kind_of(p.srcMemoryType, p.dstMemoryType)};
    if (src.begin) copy.src = src.begin + p.srcZ * src.slice + p.srcY * src.pitch + p.srcXInBytes;
    if (dst.begin)
        copy.dst =
            const_cast<char*>(dst.begin) + p.dstZ * dst.slice + p.dstY * dst.pitch + p.dstXInBytes;
    return copy;
}

}  // namespace

Error box_operation(cuda::Context& context, const Memcpy3D* p, Operation& operation) {
    if (!p) return Error::kInvalidValue;
    // Rows that would overlap are refused, as on hardware.
    const bool fits = (p->srcPitch == 0 || p->srcXInBytes + p->WidthInBytes <= p->srcPitch) &&
                      (p->dstPitch == 0 || p->dstXInBytes + p->WidthInBytes <= p->dstPitch);
    if (!fits || !has_arrays(context, *p)) return Error::kInvalidValue;
    operation = copy_of(*p);
    return Error::kSuccess;
}

namespace {

/// A copy that may be made, or why not.
Result check_box(const Memcpy3D* p, Operation& copy) {
    return in_context([&](cuda::Context& context) { return box_operation(context, p, copy); });
}

Result copy_box(const Memcpy3D* p) {
    Operation copy;
    const Result checked = check_box(p, copy);
    return checked == Result::kSuccess ? submit_and_wait(copy) : checked;
}
Result copy_box(const Memcpy3D* p, Stream* stream) {
    Operation copy;
    const Result checked = check_box(p, copy);
    return checked == Result::kSuccess ? submit(stream, copy) : checked;
}
Result copy_plane(const Memcpy2D* p) {
    if (!p) return Result::kInvalidValue;
    const Memcpy3D box = as_box(*p);
    return copy_box(&box);
}

Fill elements(Pointer pointer, unsigned value, unsigned element_bytes, std::size_t count) {
    const std::size_t bytes = count * element_bytes;
    return {host_pointer(pointer), value, element_bytes, count, 1, 1, bytes, bytes};
}
Fill plane(Pointer pointer, std::size_t pitch, unsigned value, unsigned element_bytes,
           std::size_t width, std::size_t height) {
    return {host_pointer(pointer), value, element_bytes, width, height, 1, pitch, 0};
}

}  // namespace

LOCKSTEP_DRIVER(cuMemcpy, (Pointer dst, Pointer src, std::size_t bytes)) {
    return submit_and_wait(anywhere(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyAsync, (Pointer dst, Pointer src, std::size_t bytes, Stream* stream)) {
    return submit(stream, anywhere(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyHtoD_v2, (Pointer dst, const void* src, std::size_t bytes)) {
    return submit_and_wait(to_device(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyHtoDAsync_v2,
                (Pointer dst, const void* src, std::size_t bytes, Stream* stream)) {
    return submit(stream, to_device(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyDtoH_v2, (void* dst, Pointer src, std::size_t bytes)) {
    return submit_and_wait(to_host(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyDtoHAsync_v2, (void* dst, Pointer src, std::size_t bytes, Stream* stream)) {
    return submit(stream, to_host(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyDtoD_v2, (Pointer dst, Pointer src, std::size_t bytes)) {
    return submit_and_wait(on_device(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyDtoDAsync_v2,
                (Pointer dst, Pointer src, std::size_t bytes, Stream* stream)) {
    return submit(stream, on_device(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyPeer,
                (Pointer dst, ContextHandle*, Pointer src, ContextHandle*, std::size_t bytes)) {
    return submit_and_wait(on_device(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpyPeerAsync, (Pointer dst, ContextHandle*, Pointer src, ContextHandle*,
                                    std::size_t bytes, Stream* stream)) {
    return submit(stream, on_device(dst, src, bytes));
}
LOCKSTEP_DRIVER(cuMemcpy2D_v2, (const Memcpy2D* p)) {
    return copy_plane(p);
}
LOCKSTEP_DRIVER(cuMemcpy2DUnaligned_v2, (const Memcpy2D* p)) {
    return copy_plane(p);
}
LOCKSTEP_DRIVER(cuMemcpy2DAsync_v2, (const Memcpy2D* p, Stream* stream)) {
    if (!p) return Result::kInvalidValue;
    const Memcpy3D box = as_box(*p);
    return copy_box(&box, stream);
}
LOCKSTEP_DRIVER(cuMemcpy3D_v2, (const Memcpy3D* p)) {
    return copy_box(p);
}
LOCKSTEP_DRIVER(cuMemcpy3DAsync_v2, (const Memcpy3D* p, Stream* stream)) {
    return copy_box(p, stream);
}

LOCKSTEP_DRIVER(cuMemsetD8_v2, (Pointer dst, unsigned char value, std::size_t count)) {
    return submit_and_wait(elements(dst, value, 1, count));
}
LOCKSTEP_DRIVER(cuMemsetD16_v2, (Pointer dst, unsigned short value, std::size_t count)) {
    return submit_and_wait(elements(dst, value, 2, count));
}
LOCKSTEP_DRIVER(cuMemsetD32_v2, (Pointer dst, unsigned value, std::size_t count)) {
    return submit_and_wait(elements(dst, value, 4, count));
}
LOCKSTEP_DRIVER(cuMemsetD8Async,
                (Pointer dst, unsigned char value, std::size_t count, Stream* stream)) {
    return submit(stream, elements(dst, value, 1, count));
}
LOCKSTEP_DRIVER(cuMemsetD16Async,
                (Pointer dst, unsigned short value, std::size_t count, Stream* stream)) {
    return submit(stream, elements(dst, value, 2, count));
}
LOCKSTEP_DRIVER(cuMemsetD32Async,
                (Pointer dst, unsigned value, std::size_t count, Stream* stream)) {
    return submit(stream, elements(dst, value, 4, count));
}
LOCKSTEP_DRIVER(cuMemsetD2D8_v2, (Pointer dst, std::size_t pitch, unsigned char value,
                                  std::size_t width, std::size_t height)) {
    return submit_and_wait(plane(dst, pitch, value, 1, width, height));
}
LOCKSTEP_DRIVER(cuMemsetD2D16_v2, (Pointer dst, std::size_t pitch, unsigned short value,
                                   std::size_t width, std::size_t height)) {
    return submit_and_wait(plane(dst, pitch, value, 2, width, height));
}
LOCKSTEP_DRIVER(cuMemsetD2D32_v2, (Pointer dst, std::size_t pitch, unsigned value,
                                   std::size_t width, std::size_t height)) {
    return submit_and_wait(plane(dst, pitch, value, 4, width, height));
}
LOCKSTEP_DRIVER(cuMemsetD2D8Async, (Pointer dst, std::size_t pitch, unsigned char value,
                                    std::size_t width, std::size_t height, Stream* stream)) {
    return submit(stream, plane(dst, pitch, value, 1, width, height));
}
LOCKSTEP_DRIVER(cuMemsetD2D16Async, (Pointer dst, std::size_t pitch, unsigned short value,
                                     std::size_t width, std::size_t height, Stream* stream)) {
    return submit(stream, plane(dst, pitch, value, 2, width, height));
}
LOCKSTEP_DRIVER(cuMemsetD2D32Async, (Pointer dst, std::size_t pitch, unsigned value,
                                     std::size_t width, std::size_t height, Stream* stream)) {
    return submit(stream, plane(dst, pitch, value, 4, width, height));
}

}  // namespace lockstep::cuda::driver
