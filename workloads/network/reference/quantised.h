// SPDX-License-Identifier: Apache-2.0
// What quantised operators compute, in integers and to the bit.
//
// x, y: stored values; z: zero points; M = scale in / scale out, times the weight's for a product.
//   Conv, Gemm, MatMul    y = sat(round((sum (x - zx)(w - zw) + bias) * M[channel]) + zy)
//   Add, Sub              y = sat(round((a - za) Ma +- (b - zb) Mb) + zy), rounded once
//   Mul                   y = sat(round((a - za)(b - zb) sa sb / sy) + zy)
//   averages              y = sat(round(sum (x - zx) * sx / (sy * count)) + zy)
//   MaxPool, Reshape, ... move stored values; where scales differ (Concat), each is requantised
//   Relu, Clip, Tanh, ... a table of 256 entries: y = sat(round_even(f(sx (x - zx)) / sy) + zy), in
//                         FP64
// Sums are int32 and must fit. round and M are those of sim/numerics/requantise.h.
#pragma once

#include "workloads/network/graph/quantisation.h"

namespace lockstep::network {

/// How sums are requantised. ONNX's own QLinear operators always do it ONNX's way.
enum class Requantisation {
    kFixedPoint,  ///< in integers, as hardware does
    kOnnx,        ///< one FP32 product, ties to even
    /// FP32 operations one after the other, ties to even, as the TPU's vector unit does it:
    ///   products as kOnnx; Add, Sub  (a - za) Ma +- (b - zb) Mb;  Mul  ((a - za) Mab) (b - zb);
    ///   averages  sum / count / (sy / sx);  tables  f(sx (x - zx)) / sy
    kVectorUnit,
    // In integers, as TensorFlow Lite's reference kernels (tflite.h):
    kTfLite,      ///< with their two roundings
    kTfLiteAway,  ///< with one, ties away from zero
    kTfLiteEven,  ///< with one, ties to even
};

/// The outputs of a quantised elementwise node of one operand (Relu, Sigmoid, ...) for the stored
/// inputs from the lowest to the highest. InputError where the node is none of these.
std::vector<std::int32_t> activation_table(
    const Graph& graph, const Node& node,
    Requantisation requantisation = Requantisation::kFixedPoint);

}  // namespace lockstep::network
