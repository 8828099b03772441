// SPDX-License-Identifier: Apache-2.0
// Which nodes a TPU of generation 1 computes and which its host does, and in what order.
#pragma once

#include "workloads/network/graph.h"

#include <map>
#include <string>
#include <vector>

namespace lockstep::network {

/// Nodes that are computed one after the other in one place. A group of the host's is as large as
/// the graph allows: the chip and the host change places as seldom as can be.
struct NodeGroup {
    bool on_host = false;
    std::vector<size_t> nodes;
};

/// Nodes by their index, and why the chip cannot compute them.
using Refused = std::map<size_t, std::string>;

/// All nodes in an order in which each comes after those it reads from. To the host go `refused`
/// ones, all that read or give anything but integers with a scale, and products of two values that
/// are computed; and what only moves values to or from these, so that what crosses the link is
/// dense. Without nodes on the host: one group, in topological order.
std::vector<NodeGroup> partition(const Graph& graph, const Refused& refused);

}  // namespace lockstep::network
