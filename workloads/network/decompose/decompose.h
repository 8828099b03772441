// SPDX-License-Identifier: Apache-2.0
// Operators that are written with others: nothing but their decomposition knows what they mean.
#pragma once

#include <optional>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// The nodes that stand for this one, with shapes inferred; nothing where the operator has a
/// meaning of its own. The shapes of the node's inputs must be inferred. InputError where the node
/// is malformed.
std::optional<std::vector<Node>> decompose(Graph& graph, const Node& node);

}  // namespace lockstep::network
