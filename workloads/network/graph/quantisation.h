// SPDX-License-Identifier: Apache-2.0
// Quantised values: real = scale * (stored - zero_point). In a quantised graph the ordinary
// operators (Conv, Gemm, MatMul, Add, Relu, MaxPool, ...) read and give int8 (or int16) values that
// say their scale (Value::quantisation), as in TensorFlow Lite; a bias is int32 with the scale of
// the sums. What each operator then computes, exactly, is in reference/quantised.h.
#pragma once

#include "sim/numerics/requantise.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// The values of an integer type that values are quantised to; InternalError for any other.
numerics::IntegerRange range_of(ElementType type);
/// The same where only so many bits of it are used; 0: all.
numerics::IntegerRange range_of(ElementType type, int bits);
/// Bits that a stored value takes where values are packed.
int bits_of(const Value& value);

/// round(real / scale) + zero_point, ties to even, saturated to the type.
Tensor quantise(const Tensor& real, const Quantisation& quantisation, ElementType type);
/// In fp32: each value is the nearest to the exact product.
Tensor dequantise(const Tensor& stored, const Quantisation& quantisation);

/// The scale that covers [low, high] and 0. Symmetric: zero point 0, -127 to 127. int16 is always
/// symmetric. `bits`: of int8, 8, 4 or 2.
Quantisation quantisation_of(float low, float high, bool symmetric,
                             ElementType type = ElementType::kInt8, int bits = 8);

/// int8 from -127 to 127 with zero point 0 that covers a weight, one scale for all or one for each
/// slice of `axis`; scales of 1 where the weight is not known. With 4 or 2 bits (-7 to 7, -1 to 1)
/// the largest values are cut off where that makes the mean squared error smaller.
Quantisation weight_quantisation(const Value& weight, std::optional<std::int64_t> axis,
                                 int bits = 8);

/// A quantised node: its output has a scale, and so do its inputs.
bool is_quantised(const Graph& graph, const Node& node);

/// What an int32 sum of a quantised Conv, Gemm or MatMul is multiplied by to become steps of its
/// output: input scale * weight scale / output scale, one for all or one for each output channel
/// (column).
std::vector<double> requantisation_scales(const Graph& graph, const Node& product);

}  // namespace lockstep::network
