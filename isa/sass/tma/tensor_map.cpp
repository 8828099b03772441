// SPDX-License-Identifier: Apache-2.0
// The layout is what ptxas 13 emits for tensormap.replace on sm_90a, which writes these fields one
// by one. It has no word for L2 promotion and im2col; those lie behind the 64 bytes that it shows,
// in a place of ours: programs take a map as opaque.
//   0x00 address   0x08 rank, type, interleave, swizzle, fill   0x0c stride / 16 (36 bits, the high
//   ones in 0x1c)   0x20 size - 1   0x34 element stride - 1 (3 bits each), box - 1 (bytes from 0x37
//   on)   0x40 ours: L2 promotion, mode, pixels, corners
#include "isa/sass/tma/tensor_map.h"

#include <fmt/format.h>

#include <cstring>

namespace lockstep::sass {

namespace {

constexpr std::size_t kFlags = 0x08, kStrides = 0x0c, kHighStrides = 0x1c, kSizes = 0x20,
                      kSteps = 0x34, kBox = 0x37, kPromotion = 0x40, kMode = 0x41, kPixels = 0x44,
                      kCorners = 0x48;
constexpr unsigned kRankBit = 4, kTypeBit = 7, kInterleaveBit = 11, kSwizzleBit = 13, kFillBit = 15;
constexpr std::uint64_t kStrideUnit = 16;
constexpr unsigned kStepBits = 3;

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <typename T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

unsigned element_bytes(TensorType type) {
    constexpr unsigned kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
    return type < TensorType::kCount ? kBytes[static_cast<unsigned>(type)] : 0;
}

bool is_float(TensorType type) {
    return type >= TensorType::kF16;
}

TensorMap decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes) {
    TensorMap map;
    map.address = get<std::uint64_t>(bytes, 0);
    const auto flags = get<std::uint32_t>(bytes, kFlags);
    map.rank = (flags >> kRankBit & 7) + 1;
    map.type = static_cast<TensorType>(flags >> kTypeBit & 15);
    map.interleave = static_cast<TensorInterleave>(flags >> kInterleaveBit & 3);
    map.swizzle = static_cast<TensorSwizzle>(flags >> kSwizzleBit & 3);
    map.fills_nan = flags >> kFillBit & 1;
    const auto high = get<std::uint32_t>(bytes, kHighStrides);
    const auto steps = get<std::uint32_t>(bytes, kSteps);
    for (unsigned i = 0; i < kMaxTensorRank; ++i) {
        map.size[i] = std::uint64_t{get<std::uint32_t>(bytes, kSizes + 4 * i)} + 1;
        map.step[i] = (steps >> kStepBits * i & 7) + 1;
        map.box[i] = get<std::uint8_t>(bytes, kBox + i) + 1u;
        if (i + 1 == kMaxTensorRank) break;
        map.stride[i] = (std::uint64_t{high >> 4 * i & 15} << 32 |
                         get<std::uint32_t>(bytes, kStrides + 4 * i)) *
                        kStrideUnit;
    }
    map.l2_promotion = get<std::uint8_t>(bytes, kPromotion);
    map.is_im2col = get<std::uint8_t>(bytes, kMode) != 0;
    map.pixels = get<std::uint16_t>(bytes, kPixels);
    for (unsigned i = 0; i < map.lower.size(); ++i) {
        map.lower[i] = get<std::int16_t>(bytes, kCorners + 4 * i);
        map.upper[i] = get<std::int16_t>(bytes, kCorners + 2 + 4 * i);
    }
    return map;
}

void encode_tensor_map(const TensorMap& map, std::span<std::byte, kTensorMapBytes> bytes) {
    std::memset(bytes.data(), 0, bytes.size());
    put(bytes, 0, map.address);
    put(bytes, kFlags,
        static_cast<std::uint32_t>((map.rank - 1) << kRankBit |
                                   static_cast<unsigned>(map.type) << kTypeBit |
                                   static_cast<unsigned>(map.interleave) << kInterleaveBit |
                                   static_cast<unsigned>(map.swizzle) << kSwizzleBit |
                                   static_cast<unsigned>(map.fills_nan) << kFillBit));
    std::uint32_t high = 0, steps = 0;
    for (unsigned i = 0; i < map.rank; ++i) {
        put(bytes, kSizes + 4 * i, static_cast<std::uint32_t>(map.size[i] - 1));
        steps |= (map.step[i] - 1) << kStepBits * i;
        if (i + 1 == map.rank) break;
        const std::uint64_t units = map.stride[i] / kStrideUnit;
        put(bytes, kStrides + 4 * i, static_cast<std::uint32_t>(units));
        high |= static_cast<std::uint32_t>(units >> 32) << 4 * i;
    }
    put(bytes, kHighStrides, high);
    put(bytes, kSteps, steps);
    const unsigned boxes = map.is_im2col ? 1 : map.rank;
    for (unsigned i = 0; i < boxes; ++i)
        put(bytes, kBox + i, static_cast<std::uint8_t>(map.box[i] - 1));
    put(bytes, kPromotion, map.l2_promotion);
    put(bytes, kMode, static_cast<std::uint8_t>(map.is_im2col));
    if (!map.is_im2col) return;
    put(bytes, kPixels, static_cast<std::uint16_t>(map.pixels));
    for (unsigned i = 0; i + 2 < map.rank; ++i) {
        put(bytes, kCorners + 4 * i, static_cast<std::int16_t>(map.lower[i]));
        put(bytes, kCorners + 2 + 4 * i, static_cast<std::int16_t>(map.upper[i]));
    }
}

std::string broken_rule(const TensorMap& map) {
    if (map.rank > kMaxTensorRank)
        return fmt::format("it has {} dimensions, more than 5", map.rank);
    const unsigned element = element_bytes(map.type);
    if (element == 0)
        return fmt::format("there is no element type {}", static_cast<unsigned>(map.type));
    if (map.interleave >= TensorInterleave::kCount) return "there is no interleave mode 3";
    const bool is_interleaved = map.interleave != TensorInterleave::kNone;
    const unsigned unit = map.interleave == TensorInterleave::k32 ? 32 : 16;
    if (map.address % unit != 0)
        return fmt::format("the tensor's address {:#x} is not a multiple of {}", map.address, unit);
    for (unsigned i = 0; i + 1 < map.rank; ++i)
        if (map.stride[i] % unit != 0)
            return fmt::format("the stride of dimension {}, {} bytes, is not a multiple of {}",
                               i + 1, map.stride[i], unit);
    if (is_interleaved && map.rank < 3) return "an interleaved tensor has 3 dimensions or more";
    if (map.is_im2col && (map.rank < 3 || map.pixels == 0))
        return "im2col mode takes 3 dimensions or more, and a column of pixels";
    if (map.interleave == TensorInterleave::k32 && map.swizzle != TensorSwizzle::k32)
        return "interleaved by 32 bytes takes the 32-byte swizzle";
    if (map.fills_nan && !is_float(map.type))
        return "only floating-point types are filled with NaN";
    if (is_interleaved) return "";
    const unsigned row = map.box[0] * element;
    if (row % 16 != 0)
        return fmt::format("the box's rows of {} bytes are not a multiple of 16", row);
    const unsigned span = 16u << static_cast<unsigned>(map.swizzle);
    if (map.swizzle != TensorSwizzle::kNone && row > span)
        return fmt::format("the box's rows of {} bytes are longer than the {}-byte swizzle", row,
                           span);
    return "";
}

}  // namespace lockstep::sass
