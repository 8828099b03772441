// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation to int8, or to int8 weights and int16 activations.
#pragma once

#include <map>
#include <set>
#include <string>

#include "workloads/network/quantise/calibrate.h"

namespace lockstep::network {

/// Bits of the operands of a product: 8, 4 or 2 each. int16 activations have 16.
struct LayerBits {
    int weights = 8, activations = 8;
    bool operator==(const LayerBits&) const = default;
};

struct QuantiseOptions {
    /// int8, or int16: activations only, weights stay int8.
    ElementType activations = ElementType::kInt8;
    bool per_channel = true;  ///< one scale for each output channel of a weight, or one for all
    /// Zero points of activations are 0 (a Relu's output then has 7 bits).
    bool symmetric_activations = false;
    /// Inputs and outputs that only integer nodes touch are int8 themselves, with the scale in
    /// their Value::quantisation; else QuantizeLinear and DequantizeLinear stand at the edges.
    bool integer_interface = false;
    std::set<std::string> keep_floating;  ///< names of nodes that stay in fp32
    /// Constants that are added to values or multiplied by them, element by element, are integers.
    bool constants = false;
    bool rows =
        false;  ///< Softmax and LRN in integers, as reference/{tflite,local_response}.h have them
    /// Operands of all products, and of those named. A value has as many bits as its readers want,
    /// the most of them; inputs and outputs of the network, and what others than products read,
    /// have 8.
    LayerBits bits;
    std::map<std::string, LayerBits> bits_of_layer;
    const LayerBits& bits_of(const std::string& layer) const {
        const auto found = bits_of_layer.find(layer);
        return found == bits_of_layer.end() ? bits : found->second;
    }
};

/// The graph with its products (Conv, Gemm, MatMul), and what follows them in integers (residual
/// additions, products of two values, activations, pooling, concatenation, reshaping), on int8
/// values as quantisation.h says; biases are int32. All else (Softmax, LayerNormalization, LSTM,
/// ...) stays in fp32 between DequantizeLinear and QuantizeLinear nodes. A product whose only
/// reader is a Relu or Clip has that one's scale, so that its saturation is the activation's.
/// Weights are symmetric, -127 to 127. `ranges` is calibrate(graph); it may be empty where the
/// graph was built for its shapes alone, and then all scales mean nothing. Shapes must be inferred,
/// and simplify() done. Biases are folded (fold_bias), so that nodes have both names.
Graph quantise(const Graph& graph, const Ranges& ranges, const QuantiseOptions& options = {});

/// One for each value by its id, where it has one.
using Scales = std::vector<std::optional<Quantisation>>;

/// The same with scales that are known: nodes whose operands and result have one run in integers.
Graph quantise_with(const Graph& graph, const Scales& scales, const QuantiseOptions& options = {});

}  // namespace lockstep::network
