// SPDX-License-Identifier: Apache-2.0
// How much work a node is.
#pragma once

#include <cstdint>

#include "workloads/network/graph/graph.h"

namespace lockstep::network::compile {

/// To a general processor with vector units: a board's host.
struct NodeCost {
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;  ///< of its operands and results
};
NodeCost cost_of(const Graph& graph, const Node& node);

}  // namespace lockstep::network::compile
