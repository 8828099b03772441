// SPDX-License-Identifier: Apache-2.0
// LRN on stored integers: sim/numerics/local_response.h with the scales of a node.
//   y = sat(round(q f(sum of the squares of neighbouring q) M) + zy),   q = stored - zero point
#pragma once

#include "sim/numerics/local_response.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network {

struct IntegerLocalResponse {
    std::size_t before = 0, after = 0;  ///< neighbours
    numerics::LocalResponseTable table;
    numerics::FixedPointScale scale;  ///< of q times an entry of the table, to the result's steps
};

/// Whether its function has a table: a window of at most 15 channels of an image, and a function
/// that is finite and falls.
bool has_local_response_table(const Graph& graph, const Node& node);

/// Of a node whose operand and result have scales.
IntegerLocalResponse integer_local_response(const Graph& graph, const Node& node);

}  // namespace lockstep::network
