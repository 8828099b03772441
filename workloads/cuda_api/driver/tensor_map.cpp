// SPDX-License-Identifier: Apache-2.0
// The checks that the calls make, and the way from their arguments to the layout of the machine.
#include "workloads/cuda_api/driver/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "isa/sass/tma/tensor_map.h"
#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

constexpr std::uint64_t kMaxDimension = 1ull << 32, kMaxStride = 1ull << 40;
constexpr std::uint32_t kMaxBox = 256, kMaxElementStride = 8, kMaxPixels = 1024;

/// The machine's number of a type: the enumeration and the hardware disagree from f64 on.
sass::TensorType hardware_type(TensorType type) {
    switch (type) {
        case kF64:
            return sass::TensorType::kF64;
        case kBf16:
            return sass::TensorType::kBf16;
        case kF32Ftz:
            return sass::TensorType::kF32Ftz;
        default:
            return static_cast<sass::TensorType>(type);
    }
}

sass::TensorMap machine_map(const TensorShape& shape) {
    sass::TensorMap map;
    map.address = shape.address;
    map.rank = shape.rank;
    map.type = hardware_type(shape.type);
    map.interleave = static_cast<sass::TensorInterleave>(shape.interleave);
    map.swizzle = static_cast<sass::TensorSwizzle>(shape.swizzle);
    map.fills_nan = shape.fill == kFillNan;
    map.l2_promotion = static_cast<std::uint8_t>(shape.promotion);
    map.size = shape.dimensions;
    map.stride = shape.strides;
    map.step = shape.element_strides;
    return map;
}

TensorMap encoded(const sass::TensorMap& map) {
    TensorMap bytes{};
    static_assert(sizeof bytes == sass::kTensorMapBytes);
    sass::encode_tensor_map(map, std::span<std::byte, sass::kTensorMapBytes>(
                                     reinterpret_cast<std::byte*>(&bytes), sass::kTensorMapBytes));
    return bytes;
}

bool is_multiple(std::uint64_t value, std::uint64_t unit) {
    return value % unit == 0;
}

bool is_valid(const TensorShape& s) {
    if (s.type < 0 || s.type >= kTensorTypes || s.interleave < 0 || s.interleave >= kInterleaves ||
        s.swizzle < 0 || s.swizzle >= kSwizzles || s.promotion < 0 || s.promotion >= kPromotions ||
        s.fill < 0 || s.fill >= kFills)
        return false;
    if (s.rank == 0 || s.rank > kMaxRank || (s.interleave != kNoInterleave && s.rank < 3))
        return false;
    const std::uint64_t unit = s.interleave == kInterleave32 ? 32 : 16;
    // Drivers from CUDA 12.6 on take an address of null, for maps that kernels complete (CUTLASS,
    // sm90_epilogue_array_tma_warpspecialized.hpp).
    if (!is_multiple(s.address, unit)) return false;
    for (unsigned i = 0; i < s.rank; ++i) {
        if (s.dimensions[i] == 0 || s.dimensions[i] > kMaxDimension) return false;
        const bool ignored = i == 0 && s.interleave == kNoInterleave;
        if (!ignored && (s.element_strides[i] == 0 || s.element_strides[i] > kMaxElementStride))
            return false;
    }
    for (unsigned i = 0; i + 1 < s.rank; ++i)
        if (s.strides[i] >= kMaxStride || !is_multiple(s.strides[i], unit)) return false;
    const bool is_float = s.type >= kF16;
    if (s.fill == kFillNan && !is_float) return false;
    return s.interleave != kInterleave32 || s.swizzle == kSwizzle32;
}

/// Of the innermost row of a box.
bool is_valid_row(const TensorShape& s, std::uint32_t elements) {
    if (s.interleave != kNoInterleave) return true;
    constexpr std::uint64_t kSpan[] = {~0ull, 32, 64, 128};
    const std::uint64_t bytes = std::uint64_t{elements} * element_bytes(s.type);
    return is_multiple(bytes, 16) && bytes <= kSpan[s.swizzle];
}

/// TMA does not step over elements of the innermost dimension: that stride is ignored.
TensorShape with_steps(TensorShape shape) {
    if (shape.interleave == kNoInterleave) shape.element_strides[0] = 1;
    return shape;
}

/// The arguments that both calls have.
bool read_shape(TensorShape& shape, const void* address, const std::uint64_t* dimensions,
                const std::uint64_t* strides, const std::uint32_t* element_strides) {
    if (!dimensions || !element_strides || shape.rank == 0 || shape.rank > kMaxRank ||
        (shape.rank > 1 && !strides))
        return false;
    shape.address = reinterpret_cast<std::uintptr_t>(address);
    std::copy_n(dimensions, shape.rank, shape.dimensions.begin());
    std::copy_n(element_strides, shape.rank, shape.element_strides.begin());
    if (shape.rank > 1) std::copy_n(strides, shape.rank - 1, shape.strides.begin());
    return true;
}

/// Maps are of compute capability 9.0 and later.
template <class Box>
Result encode_checked(TensorMap* map, const TensorShape& shape, const Box& box) {
    return in_device([&](cuda::Context& context) {
        if (context.properties().arch < 90) return Error::kNotSupported;
        if (!map || !is_multiple(reinterpret_cast<std::uintptr_t>(map), alignof(TensorMap)) ||
            !driver::is_valid(shape, box))
            return Error::kInvalidValue;
        *map = encode(with_steps(shape), box);
        return Error::kSuccess;
    });
}

}  // namespace

unsigned element_bytes(TensorType type) {
    constexpr unsigned kBytes[kTensorTypes] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return kBytes[type];
}

bool is_valid(const TensorShape& shape, const TensorBox& box) {
    if (!is_valid(shape)) return false;
    for (unsigned i = 0; i < shape.rank; ++i)
        if (box[i] == 0 || box[i] > kMaxBox) return false;
    return is_valid_row(shape, box[0]);
}

bool is_valid(const TensorShape& shape, const Im2col& box) {
    if (!is_valid(shape) || shape.rank < 3 || box.channels == 0 || box.channels > kMaxBox ||
        box.pixels == 0 || box.pixels > kMaxPixels || !is_valid_row(shape, box.channels))
        return false;
    // Corners have 16 bits in one spatial dimension, 8 in two, 5 in three.
    constexpr int kBits[] = {16, 8, 5};
    const unsigned spatial = shape.rank - 2;
    const int most = 1 << (kBits[spatial - 1] - 1);
    for (unsigned i = 0; i < spatial; ++i) {
        const int lower = box.lower[i], upper = box.upper[i];
        if (lower < -most || lower >= most || upper < -most || upper >= most) return false;
        const auto extent = static_cast<std::int64_t>(shape.dimensions[i + 1]) + upper - lower;
        if (extent <= 0) return false;
    }
    return true;
}

TensorMap encode(const TensorShape& shape, const TensorBox& box) {
    sass::TensorMap map = machine_map(shape);
    map.box = box;
    return encoded(map);
}

TensorMap encode(const TensorShape& shape, const Im2col& box) {
    sass::TensorMap map = machine_map(shape);
    map.is_im2col = true;
    map.box[0] = box.channels;
    map.pixels = box.pixels;
    std::copy(box.lower.begin(), box.lower.end(), map.lower.begin());
    std::copy(box.upper.begin(), box.upper.end(), map.upper.begin());
    return encoded(map);
}

LOCKSTEP_DRIVER(cuTensorMapEncodeTiled,
                (TensorMap * map, TensorType type, unsigned rank, void* address,
                 const std::uint64_t* dimensions, const std::uint64_t* strides,
                 const std::uint32_t* box, const std::uint32_t* element_strides,
                 Interleave interleave, Swizzle swizzle, L2Promotion promotion,
                 OutOfBoundsFill fill)) {
    TensorShape shape{type, rank, 0, {}, {}, {}, interleave, swizzle, promotion, fill};
    TensorBox sizes{};
    if (!box || !read_shape(shape, address, dimensions, strides, element_strides))
        return Result::kInvalidValue;
    std::copy_n(box, rank, sizes.begin());
    return encode_checked(map, shape, sizes);
}

LOCKSTEP_DRIVER(cuTensorMapEncodeIm2col,
                (TensorMap * map, TensorType type, unsigned rank, void* address,
                 const std::uint64_t* dimensions, const std::uint64_t* strides, const int* lower,
                 const int* upper, std::uint32_t channels, std::uint32_t pixels,
                 const std::uint32_t* element_strides, Interleave interleave, Swizzle swizzle,
                 L2Promotion promotion, OutOfBoundsFill fill)) {
    TensorShape shape{type, rank, 0, {}, {}, {}, interleave, swizzle, promotion, fill};
    Im2col box{{}, {}, channels, pixels};
    if (!lower || !upper || rank < 3 ||
        !read_shape(shape, address, dimensions, strides, element_strides))
        return Result::kInvalidValue;
    std::copy_n(lower, rank - 2, box.lower.begin());
    std::copy_n(upper, rank - 2, box.upper.begin());
    return encode_checked(map, shape, box);
}

LOCKSTEP_DRIVER(cuTensorMapReplaceAddress, (TensorMap * map, void* address)) {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    if (!map || value == 0 || !is_multiple(value, 16)) return Result::kInvalidValue;
    std::memcpy(map, &value, sizeof value);  // the first field
    return Result::kSuccess;
}

}  // namespace lockstep::cuda::driver
