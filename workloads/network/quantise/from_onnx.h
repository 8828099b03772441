// SPDX-License-Identifier: Apache-2.0
// Models that were quantised elsewhere.
#pragma once

#include "workloads/network/quantise/quantise.h"

namespace lockstep::network {

/// Whether the graph holds QuantizeLinear, DequantizeLinear, QLinearConv or QLinearMatMul.
bool is_quantised_model(const Graph& graph);

/// Whether all that a graph computes has a scale already, as a TensorFlow Lite model has it.
bool is_stored_graph(const Graph& graph);

/// The graph in the form that quantise() gives: QLinearConv and QLinearMatMul, and operators
/// between DequantizeLinear and QuantizeLinear, on int8 values (uint8 shifted by 128 with its zero
/// point). Inputs and outputs are fp32 where options.integer_interface does not say otherwise.
/// Results are the model's own with Requantisation::kOnnx up to one step at ties of rounding.
/// Shapes must be inferred. InputError, listing all nodes, where scales are not constant or do not
/// fit, and on quantisation at run time (DynamicQuantizeLinear, ConvInteger, MatMulInteger).
Graph integers_from_onnx(const Graph& graph, const QuantiseOptions& options = {});

}  // namespace lockstep::network
