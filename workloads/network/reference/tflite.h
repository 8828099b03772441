// SPDX-License-Identifier: Apache-2.0
// What quantised operators compute as TensorFlow Lite's reference kernels do
// (Requantisation::kTfLite), and with other roundings of the same formulas. With q = stored - zero
// point, and round(x M) by multiplier and shift (numerics::multiply):
//   Conv, Gemm, MatMul  y = sat(round(sums * M[channel]) + zy)
//   Add, Sub            numerics::add: both to twice the larger scale, then to the result's
//   Mul                 y = sat(round(qa qb M) + zy)
//   AveragePool         of the same scale: the stored values' sum over their count, ties away from
//                       zero; else as GlobalAveragePool
//   GlobalAveragePool   y = sat(round(sum * M / count) + zy)   (numerics::mean_scale)
//   Concat              y = sat(round(q M) + zy) where scales differ
//   Relu, Clip          y = clamp(round(q M) + zy), bounds rounded, ties away from zero
//   LeakyRelu           y = sat(round(q M or q M alpha) + zy)
//   Sigmoid, HardSwish  in fixed point (sim/numerics/fixed_point.h); any other function in FP64,
//                       ties away from zero
//   Softmax             numerics::softmax_row
// Source: TensorFlow Lite (LiteRT), kernels/internal/reference, kernels/{add,reduce,activations}.
#pragma once

#include "sim/numerics/fixed_point.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network {

/// Whether sums are rounded as above.
bool is_tflite(Requantisation requantisation);
/// How multipliers and shifts round then, and in kFixedPoint.
numerics::IntegerRounding rounding_of(Requantisation requantisation);

/// The result for each stored value of the operand from the lowest on.
std::vector<std::int32_t> tflite_table(const Graph& graph, const Node& node,
                                       numerics::IntegerRounding rounding);

/// A mean whose result has its operand's scale is a division of stored values.
bool divides_stored_values(const Graph& graph, const Node& node);
/// sum / count, ties away from zero.
std::int64_t divide_rounded(std::int64_t sum, std::int64_t count);

/// Of a Softmax over stored values: TensorFlow Lite's beta is 1.
numerics::SoftmaxScale softmax_scale_of(const Graph& graph, const Node& node);

}  // namespace lockstep::network
