// SPDX-License-Identifier: Apache-2.0
// Winograd's F(2x2, 3x3): 2 x 2 outputs of a 3 x 3 window by 16 products in place of 36. Integers:
// weights are transformed times 4, so that sums of products are 4 times the convolution's, exactly.
// Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (CVPR 2016), section
// 4.1.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::npu {

inline constexpr std::size_t kWinogradPositions = 16;
/// Inputs that are summed before the division by 4: their sums, 4 times and centred values of 9
/// bits each, stay below 2^31.
inline constexpr std::uint32_t kWinogradInputs = 512;

/// Weights [ky][kx][plane values] of a 3 x 3 window, to 16 planes: (2G) g (2G)^T.
void transform_weights(const std::int16_t* weights, std::uint64_t plane,
                       std::vector<std::int16_t> (&into)[kWinogradPositions]);

/// A 4 x 4 patch of pixels (patch[4 * y + x]: `channels` values, centred), to 16 positions
/// (into[p]: likewise): B^T d B.
void transform_inputs(const std::int16_t* const (&patch)[kWinogradPositions],
                      std::uint64_t channels, std::int16_t* const (&into)[kWinogradPositions]);

/// Products of 16 positions (each `channels` values) to those of 2 x 2 outputs, added to them:
/// A^T m A / 4.
void transform_outputs(const std::uint32_t* const (&products)[kWinogradPositions],
                       std::uint64_t channels, std::int32_t* const (&outputs)[4]);

}  // namespace lockstep::npu
