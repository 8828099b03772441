// SPDX-License-Identifier: Apache-2.0
// Copies to and from arrays, from and to memory or other arrays.
#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/runtime/functions.h"
#include "workloads/cuda_api/state/array.h"

namespace lockstep::cuda {
namespace {

/// Checks and submits under one lock: whether an array exists is the context's to say.
Error submit(Waits waits, Stream* stream, const ArrayRegion* region, const ArrayRegion* other,
             std::size_t width, std::size_t height, const std::function<Copy()>& box) {
    return call(waits, [&](Context& context) {
        for (const ArrayRegion* r : {region, other})
            if (r != nullptr &&
                (!context.arrays.is_array(r->array) || !contains(*r, width, height, 1)))
                return Error::kInvalidValue;
        return context.streams.submit(
            stream, box(), waits == Waits::kYes ? Returns::kWhenDone : Returns::kWhenSubmitted);
    });
}

Error to_array(Waits waits, Stream* stream, Array* array, std::size_t x, std::size_t y,
               const void* src, std::size_t pitch, std::size_t width, std::size_t height,
               abi::MemcpyKind kind) {
    const ArrayRegion region{array, x, y};
    return submit(waits, stream, &region, nullptr, width, height, [&] {
        return Copy{array->at(x, y, 0), src,   width, height, 1,
                    array->image.pitch, pitch, 0,     0,      kind};
    });
}

Error from_array(Waits waits, Stream* stream, void* dst, std::size_t pitch, const Array* array,
                 std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                 abi::MemcpyKind kind) {
    const ArrayRegion region{array, x, y};
    return submit(waits, stream, &region, nullptr, width, height, [&] {
        return Copy{dst,   array->at(x, y, 0), width, height, 1,
                    pitch, array->image.pitch, 0,     0,      kind};
    });
}

/// `bytes` one after the other, row by row from (x, y) on: calls part(x, y, offset, width, height).
Error by_rows(const Array* array, std::size_t x, std::size_t y, std::size_t bytes,
              const std::function<Error(std::size_t, std::size_t, std::size_t, std::size_t,
                                        std::size_t)>& part) {
    bool is_known = false;
    std::size_t row = 0;
    const Error error = call([&](Context& context) {
        is_known = context.arrays.is_array(array);
        if (is_known) row = array->image.width * array->texel_bytes();
        return is_known && x < row ? Error::kSuccess : Error::kInvalidValue;
    });
    if (error != Error::kSuccess) return error;
    std::size_t done = 0;
    while (done < bytes) {
        const std::size_t left = bytes - done;
        const bool is_whole = x == 0 && left >= row;
        const std::size_t width = is_whole ? row : std::min(left, row - x);
        const std::size_t height = is_whole ? left / row : 1;
        const Error result = part(x, y, done, width, height);
        if (result != Error::kSuccess) return result;
        done += width * height;
        y += height;
        x = 0;
    }
    return Error::kSuccess;
}

Error line_to_array(Waits waits, Stream* stream, Array* array, std::size_t x, std::size_t y,
                    const void* src, std::size_t bytes, abi::MemcpyKind kind) {
    return by_rows(array, x, y, bytes,
                   [&](std::size_t px, std::size_t py, std::size_t offset, std::size_t width,
                       std::size_t height) {
                       return to_array(waits, stream, array, px, py,
                                       static_cast<const char*>(src) + offset, width, width, height,
                                       kind);
                   });
}

Error line_from_array(Waits waits, Stream* stream, void* dst, const Array* array, std::size_t x,
                      std::size_t y, std::size_t bytes, abi::MemcpyKind kind) {
    return by_rows(array, x, y, bytes,
                   [&](std::size_t px, std::size_t py, std::size_t offset, std::size_t width,
                       std::size_t height) {
                       return from_array(waits, stream, static_cast<char*>(dst) + offset, width,
                                         array, px, py, width, height, kind);
                   });
}

}  // namespace

LOCKSTEP_CUDA Error cudaMemcpy2DToArray(Array* dst, std::size_t x, std::size_t y, const void* src,
                                        std::size_t pitch, std::size_t width, std::size_t height,
                                        abi::MemcpyKind kind) {
    return to_array(Waits::kYes, nullptr, dst, x, y, src, pitch, width, height, kind);
}
LOCKSTEP_CUDA Error cudaMemcpy2DToArrayAsync(Array* dst, std::size_t x, std::size_t y,
                                             const void* src, std::size_t pitch, std::size_t width,
                                             std::size_t height, abi::MemcpyKind kind,
                                             Stream* stream) {
    return to_array(Waits::kNo, stream, dst, x, y, src, pitch, width, height, kind);
}
LOCKSTEP_CUDA Error cudaMemcpy2DFromArray(void* dst, std::size_t pitch, const Array* src,
                                          std::size_t x, std::size_t y, std::size_t width,
                                          std::size_t height, abi::MemcpyKind kind) {
    return from_array(Waits::kYes, nullptr, dst, pitch, src, x, y, width, height, kind);
}
LOCKSTEP_CUDA Error cudaMemcpy2DFromArrayAsync(void* dst, std::size_t pitch, const Array* src,
                                               std::size_t x, std::size_t y, std::size_t width,
                                               std::size_t height, abi::MemcpyKind kind,
                                               Stream* stream) {
    return from_array(Waits::kNo, stream, dst, pitch, src, x, y, width, height, kind);
}
LOCKSTEP_CUDA Error cudaMemcpy2DArrayToArray(Array* dst, std::size_t dst_x, std::size_t dst_y,
                                             const Array* src, std::size_t src_x, std::size_t src_y,
                                             std::size_t width, std::size_t height,
                                             abi::MemcpyKind kind) {
    const ArrayRegion to{dst, dst_x, dst_y}, from{src, src_x, src_y};
    return submit(Waits::kYes, nullptr, &to, &from, width, height, [&] {
        return Copy{dst->at(dst_x, dst_y, 0), src->at(src_x, src_y, 0), width, height, 1,
                    dst->image.pitch,         src->image.pitch,         0,     0,      kind};
    });
}
LOCKSTEP_CUDA Error cudaMemcpyToArray(Array* dst, std::size_t x, std::size_t y, const void* src,
                                      std::size_t bytes, abi::MemcpyKind kind) {
    return line_to_array(Waits::kYes, nullptr, dst, x, y, src, bytes, kind);
}
LOCKSTEP_CUDA Error cudaMemcpyToArrayAsync(Array* dst, std::size_t x, std::size_t y,
                                           const void* src, std::size_t bytes, abi::MemcpyKind kind,
                                           Stream* stream) {
    return line_to_array(Waits::kNo, stream, dst, x, y, src, bytes, kind);
}
LOCKSTEP_CUDA Error cudaMemcpyFromArray(void* dst, const Array* src, std::size_t x, std::size_t y,
                                        std::size_t bytes, abi::MemcpyKind kind) {
    return line_from_array(Waits::kYes, nullptr, dst, src, x, y, bytes, kind);
}
LOCKSTEP_CUDA Error cudaMemcpyFromArrayAsync(void* dst, const Array* src, std::size_t x,
                                             std::size_t y, std::size_t bytes, abi::MemcpyKind kind,
                                             Stream* stream) {
    return line_from_array(Waits::kNo, stream, dst, src, x, y, bytes, kind);
}

}  // namespace lockstep::cuda
