// SPDX-License-Identifier: Apache-2.0
// The families of decompositions: each writes the nodes that compute the outputs of `node`.
#pragma once

#include "sim/error/error.h"
#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/shape_inference.h"

namespace lockstep::network::decomposing {

[[noreturn]] void fail(const Node& node, const std::string& reason);

void write_recurrent(NodeWriter& w, const Node& node);  ///< GRU, RNN
void write_resize(NodeWriter& w, const Graph& graph, const Node& node);
void write_transposed_convolution(NodeWriter& w, const Node& node);
void write_einsum(NodeWriter& w, const Node& node);
void write_pad(NodeWriter& w, const Graph& graph, const Node& node);
void write_local_response(NodeWriter& w, const Node& node);  ///< LRN
void write_block_movement(NodeWriter& w, const Node& node);  ///< DepthToSpace, SpaceToDepth
void write_one_hot(NodeWriter& w, const Graph& graph, const Node& node);
void write_cumulative_sum(NodeWriter& w, const Graph& graph, const Node& node);
/// ReduceL1, ReduceLogSum, ReduceLogSumExp
void write_reduction(NodeWriter& w, const Graph& graph, const Node& node);
/// Celu, Mean, Selu, Shrink, Size, ThresholdedRelu
void write_elementwise(NodeWriter& w, const Node& node);

}  // namespace lockstep::network::decomposing
