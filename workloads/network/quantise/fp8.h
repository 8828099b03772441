// SPDX-License-Identifier: Apache-2.0
// Products of weights in fp8: their operands are rounded to e4m3, each tensor with a scale.
#pragma once

#include <optional>

#include "workloads/network/graph/graph.h"
#include "workloads/network/quantise/calibrate.h"

namespace lockstep::network {

/// The scale that a node rounds to e4m3 with; nothing: it is no such node.
std::optional<float> e4m3_scale_of(const Node& node);

/// The graph with both operands of each product of an activation and a weight rounded to e4m3
/// first, by nodes that stay in the operands' own type (Cast with e4m3_scale). A scale is the least
/// power of two with which all of the range fits (`ranges` by value, of weights their own), so that
/// dividing by it is exact. Products whose sums over channels are no multiple of 16, of which 16
/// bytes at once could not be fetched, stay as they are. Shapes must be inferred.
Graph round_product_operands_to_e4m3(const Graph& graph, const Ranges& ranges);

}  // namespace lockstep::network
