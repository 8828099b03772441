// SPDX-License-Identifier: Apache-2.0
// Which nodes a machine computes and which its host does, and in what order.
#pragma once

#include <vector>

#include "workloads/network/compile/refusal.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network::compile {

/// Nodes that are computed one after the other in one place. A group of the host's is as large as
/// the graph allows: the chip and the host change places as seldom as can be.
struct NodeGroup {
    bool on_host = false;
    std::vector<std::size_t> nodes;
};

/// All nodes in an order in which each comes after those it reads from. To the host go those that
/// the machine has a reason (by node) not to compute, and what only moves values to or from these,
/// so that what crosses the link is dense. Without nodes on the host: one group, in topological
/// order.
std::vector<NodeGroup> partition(const Graph& graph, const std::vector<Reason>& reasons);

}  // namespace lockstep::network::compile
