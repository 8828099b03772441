// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation: gradients are nodes of the same graph.
#pragma once

#include <span>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// A value, and the gradient of the loss by it, of the same shape.
struct Seed {
    ValueId value = kNoValue;
    ValueId gradient = kNoValue;
};

/// Appends to a graph whose shapes are inferred the nodes that compute the gradients of `wanted`,
/// given those of `seeds`. All are ordinary operators, so that a machine that computes them trains.
/// A value that no seed depends on gets kNoValue. InputError that names a node on the way that has
/// no gradient (it chooses by index, rounds, or its rule is not written).
std::vector<ValueId> add_gradients(Graph& graph, std::span<const Seed> seeds,
                                   std::span<const ValueId> wanted);

/// Whether an operator has a rule.
bool has_gradient(Operator op);

}  // namespace lockstep::network
