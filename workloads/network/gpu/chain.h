// SPDX-License-Identifier: Apache-2.0
// Elementwise nodes as steps of one chain: each takes the value of the one before and maybe
// operands. What runs them: map kernels, and what happens to a product's sums.
#pragma once

#include <optional>
#include <vector>

#include "workloads/cuda/network/arguments.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network::gpu {

/// A function of the chain's value. x and y are values of the graph, or the constants a and b.
struct ChainStep {
    kernels::Function function = kernels::Function::kAdd;
    ValueId x = kNoValue, y = kNoValue;
    double a = 0, b = 0;
    /// What x and y are broadcast by: the dimension of the result that they lie along.
    std::optional<std::size_t> axis;
};

/// The steps of a node whose inputs[from] is the chain's value; nothing where it is no function of
/// one value. A node without inputs, or whose value is taken from no input, has from = SIZE_MAX.
std::optional<std::vector<ChainStep>> chain_steps(const Graph& graph, const Node& node,
                                                  std::size_t from);

/// Whether the node computes on integers alone.
bool is_integer_step(const Graph& graph, const Node& node);

}  // namespace lockstep::network::gpu
