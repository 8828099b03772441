// SPDX-License-Identifier: Apache-2.0
// What an accelerator does in one pass: a matrix product, then bias, residual, activation and
// pooling on its way out of the accumulators.
#pragma once

#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Nodes that are computed together. The graph is not changed: a layer names nodes of it, and what
/// they mean one after the other is what the layer means.
struct Layer {
    std::vector<std::size_t> nodes;  ///< indices into graph.nodes, in the order of computation
    /// Values that are read, each once, without the constants' order meaning anything: those that
    /// other layers compute, network inputs, parameters and constants.
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;  ///< values that other layers read, and network outputs

    std::size_t head() const { return nodes.front(); }
};

struct FusionOptions {
    bool residual = true;  ///< Add of two computed values joins the product before it
    bool pooling = true;   ///< operators of LayerRole::kPooling join the product
};

/// The graph as layers in an order in which each comes after those it reads from. A Conv, Gemm or
/// MatMul takes with it, as far as nobody else reads what is between: a bias (Add of a constant), a
/// scale (Mul or Div by a constant), residual additions, activations (Relu, Clip, Sigmoid, ...),
/// and one pooling at the end. Every other node is a layer of its own. Shapes must be inferred.
std::vector<Layer> layers_of(const Graph& graph, FusionOptions options = {});

/// The names of the layer's nodes, "+" between: "conv1+relu1+pool1".
std::string name_of(const Graph& graph, const Layer& layer);

/// Moves each Add of a constant that follows a product and that no one else reads between into the
/// product's bias: Conv and Gemm without one, and MatMul, which has a third input for it here. The
/// values stay the same to the bit, the product takes the Add's name as "matmul+add". Gives the
/// number moved.
int fold_bias(Graph& graph);

}  // namespace lockstep::network
