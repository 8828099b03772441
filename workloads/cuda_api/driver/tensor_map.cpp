// SPDX-License-Identifier: Apache-2.0
// The layout is what ptxas 13 emits for tensormap.replace on sm_90a, which writes these fields one
// by one. It has no word for L2 promotion and im2col; those lie behind the 64 bytes that it shows,
// in a place of ours: programs take a map as opaque.
//   0x00 address   0x08 rank, type, interleave, swizzle, fill   0x0c stride / 16 (36 bits, the high
//   ones in 0x1c)   0x20 dimension - 1   0x34 element stride - 1 (3 bits each), box - 1 (bytes from
//   0x37 on)   0x40 ours: L2 promotion, mode, corners, pixels
#include "workloads/cuda_api/driver/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

constexpr std::uint64_t kMaxDimension = 1ull << 32, kMaxStride = 1ull << 40;
constexpr std::uint32_t kMaxBox = 256, kMaxElementStride = 8, kMaxPixels = 1024;
constexpr std::size_t kFlags = 0x08, kStrides = 0x0c, kHighStrides = 0x1c, kDimensions = 0x20,
                      kElementStrides = 0x34, kBox = 0x37, kPromotion = 0x40, kMode = 0x41,
                      kPixels = 0x44;
constexpr unsigned char kTiledMode = 0, kIm2colMode = 1;

/// The machine's number of a type: the enumeration and the hardware disagree from f64 on.
unsigned hardware_type(TensorType type) {
    switch (type) {
        case kF64:
            return 9;
        case kBf16:
            return 10;
        case kF32Ftz:
            return 8;
        default:
            return static_cast<unsigned>(type);
    }
}

template <class T>
void put(TensorMap& map, std::size_t at, T value) {
    std::memcpy(reinterpret_cast<char*>(&map) + at, &value, sizeof(value));
}

TensorMap encode(const TensorShape& shape) {
    TensorMap map{};
    put(map, 0, shape.address);
    put(map, kFlags,
        static_cast<std::uint32_t>((shape.rank - 1) << 4 | hardware_type(shape.type) << 7 |
                                   static_cast<unsigned>(shape.interleave) << 11 |
                                   static_cast<unsigned>(shape.swizzle) << 13 |
                                   static_cast<unsigned>(shape.fill) << 15));
    std::uint32_t high = 0, element_strides = 0;
    for (unsigned i = 0; i < shape.rank; ++i) {
        put(map, kDimensions + 4 * i, static_cast<std::uint32_t>(shape.dimensions[i] - 1));
        element_strides |= (shape.element_strides[i] - 1) << 3 * i;
        if (i + 1 == shape.rank) break;
        const std::uint64_t units = shape.strides[i] / 16;
        put(map, kStrides + 4 * i, static_cast<std::uint32_t>(units));
        high |= static_cast<std::uint32_t>(units >> 32) << 4 * i;
    }
    put(map, kHighStrides, high);
    put(map, kElementStrides, element_strides);
    put(map, kPromotion, static_cast<unsigned char>(shape.promotion));
    return map;
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
    if (s.address == 0 || !is_multiple(s.address, unit)) return false;
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
    TensorMap map = encode(shape);
    for (unsigned i = 0; i < shape.rank; ++i)
        put(map, kBox + i, static_cast<unsigned char>(box[i] - 1));
    put(map, kMode, kTiledMode);
    return map;
}

TensorMap encode(const TensorShape& shape, const Im2col& box) {
    TensorMap map = encode(shape);
    put(map, kBox, static_cast<unsigned char>(box.channels - 1));
    put(map, kMode, kIm2colMode);
    put(map, kPixels, static_cast<std::uint16_t>(box.pixels));
    for (unsigned i = 0; i + 2 < shape.rank; ++i) {
        put(map, kPixels + 4 + 4 * i, static_cast<std::int16_t>(box.lower[i]));
        put(map, kPixels + 6 + 4 * i, static_cast<std::int16_t>(box.upper[i]));
    }
    return map;
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
    put(*map, 0, value);
    return Result::kSuccess;
}

}  // namespace lockstep::cuda::driver
