// SPDX-License-Identifier: Apache-2.0
// The 128-byte tensor map that TMA copies boxes by, as sm_90 reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lockstep::sass {

inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr unsigned kMaxTensorRank = 5;

/// In the hardware's numbering, which differs from CUtensorMapDataType from f64 on.
enum class TensorType : std::uint8_t {
    kU8,
    kU16,
    kU32,
    kS32,
    kU64,
    kS64,
    kF16,
    kF32,
    kF32Ftz,
    kF64,
    kBf16,
    kTf32,
    kTf32Ftz,
    kCount
};
enum class TensorInterleave : std::uint8_t { kNone, k16, k32, kCount };
enum class TensorSwizzle : std::uint8_t { kNone, k32, k64, k128 };

/// Bytes of an element; 0 where there is no such type.
unsigned element_bytes(TensorType type);
/// True for types that may be filled with NaN.
bool is_float(TensorType type);

/// Sizes in elements, dimension 0 the innermost; strides in bytes, of dimensions 1 to rank - 1.
struct TensorMap {
    std::uint64_t address = 0;
    unsigned rank = 1;
    TensorType type = TensorType::kU8;
    TensorInterleave interleave = TensorInterleave::kNone;
    TensorSwizzle swizzle = TensorSwizzle::kNone;
    bool fills_nan = false;
    bool is_im2col = false;
    std::uint8_t l2_promotion = 0;  ///< CUtensorMapL2promotion
    std::array<std::uint64_t, kMaxTensorRank> size{};
    std::array<std::uint64_t, kMaxTensorRank - 1> stride{};
    std::array<std::uint32_t, kMaxTensorRank> step{};  ///< element (traversal) strides
    /// Tiled: sizes of the box before steps. im2col: [0] is the channels of a pixel.
    std::array<std::uint32_t, kMaxTensorRank> box{};
    // im2col: where the box of positions begins and ends, relative to the tensor, for W, H, D.
    std::array<std::int32_t, 3> lower{}, upper{};
    std::uint32_t pixels = 0;  ///< of a column
};

TensorMap decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes);
void encode_tensor_map(const TensorMap& map, std::span<std::byte, kTensorMapBytes> bytes);

/// The rule that a map breaks so that no copy can be made by it, in one clause; "": none.
std::string broken_rule(const TensorMap& map);

}  // namespace lockstep::sass
