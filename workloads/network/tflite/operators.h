// SPDX-License-Identifier: Apache-2.0
// Operators of a model, by family: each adds its nodes. They throw Unsupported.
#pragma once

#include "workloads/network/tflite/model.h"

namespace lockstep::network::tflite {

// `x`, `w`, `y`: tensors of the input, the weights, the result.
void read_convolution(Model& m, const Table& op, const Table& options, std::int32_t x,
                      std::int32_t w, std::int32_t y, bool depthwise);
void read_fully_connected(Model& m, const Table& op, const Table& options, std::int32_t x,
                          std::int32_t w, std::int32_t y);
void read_transposed_convolution(Model& m, const Table& op, const Table& options);

void read_reshape(Model& m, std::int32_t x, std::int32_t y);
void read_mean(Model& m, const Table& options, std::int32_t x, std::int32_t axes_tensor,
               std::int32_t y);
void read_resize_nearest(Model& m, const Table& options, std::int32_t x, std::int32_t size,
                         std::int32_t y);
void read_resize_bilinear(Model& m, const Table& options, std::int32_t x, std::int32_t size,
                          std::int32_t y);
void read_pad(Model& m, std::int32_t x, std::int32_t amounts, std::int32_t y);

/// Pads of a window: SAME (0) or VALID (1).
std::vector<std::int64_t> pads(std::int8_t padding, const Shape& in,
                               const std::vector<std::int64_t>& kernel,
                               const std::vector<std::int64_t>& stride,
                               const std::vector<std::int64_t>& dilation);

}  // namespace lockstep::network::tflite
