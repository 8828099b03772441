// SPDX-License-Identifier: Apache-2.0
// The 128-byte description of a tensor that TMA copies boxes of, as sm_90 reads it.
#pragma once

#include <array>

#include "workloads/cuda_api/driver/abi.h"

namespace lockstep::cuda::driver {

/// CUtensorMapDataType; the packed ones are of later machines.
enum TensorType : int {
    kU8,
    kU16,
    kU32,
    kS32,
    kU64,
    kS64,
    kF16,
    kF32,
    kF64,
    kBf16,
    kF32Ftz,
    kTf32,
    kTf32Ftz,
    kTensorTypes
};
enum Interleave : int { kNoInterleave, kInterleave16, kInterleave32, kInterleaves };
enum Swizzle : int { kNoSwizzle, kSwizzle32, kSwizzle64, kSwizzle128, kSwizzles };
enum L2Promotion : int { kNoPromotion, kPromotion64, kPromotion128, kPromotion256, kPromotions };
enum OutOfBoundsFill : int { kFillZero, kFillNan, kFills };

inline constexpr unsigned kMaxRank = 5;

/// What both kinds of maps have. Sizes in elements from the innermost dimension, strides in bytes.
struct TensorShape {
    TensorType type = kU8;
    unsigned rank = 0;
    std::uint64_t address = 0;
    std::array<std::uint64_t, kMaxRank> dimensions{};
    std::array<std::uint64_t, kMaxRank - 1> strides{};  ///< of dimensions 1 to rank - 1
    std::array<std::uint32_t, kMaxRank> element_strides{};
    Interleave interleave = kNoInterleave;
    Swizzle swizzle = kNoSwizzle;
    L2Promotion promotion = kNoPromotion;
    OutOfBoundsFill fill = kFillZero;
};

/// Box sizes in elements.
using TensorBox = std::array<std::uint32_t, kMaxRank>;

/// Where a box of im2col mode begins and ends relative to the image, and what it holds.
struct Im2col {
    std::array<int, 3> lower{}, upper{};  ///< W, H, D: rank - 2 of them
    std::uint32_t channels = 0, pixels = 0;
};

unsigned element_bytes(TensorType type);

/// The checks of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. Source: cuda.h.
bool is_valid(const TensorShape& shape, const TensorBox& box);
bool is_valid(const TensorShape& shape, const Im2col& box);

/// The map of a valid shape.
TensorMap encode(const TensorShape& shape, const TensorBox& box);
TensorMap encode(const TensorShape& shape, const Im2col& box);

}  // namespace lockstep::cuda::driver
