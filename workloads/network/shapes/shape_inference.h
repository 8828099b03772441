// SPDX-License-Identifier: Apache-2.0
// The element types and shapes of all values, from those of inputs and constants.
#pragma once

#include <optional>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Sets type and shape of the node's outputs. Its inputs' shapes must be known; inputs that say a
/// shape (of Reshape, Slice, ...) must hold data. InputError where they do not fit.
void infer_node(Graph& graph, const Node& node);

/// infer_node for all nodes in topological order. Every shape is static afterwards.
void infer_shapes(Graph& graph);

/// The shape of an elementwise operation on `a` and `b` (numpy's broadcasting). InputError.
Shape broadcast(const Shape& a, const Shape& b, const Node& node);

/// `axis` in [0, rank), counted from the end where negative. InputError.
std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank);

/// The axes of a Squeeze, Unsqueeze or reduction as they are written: the attribute, or the second
/// input; none where both are left out. Nothing where that input is not known before the run.
std::optional<std::vector<std::int64_t>> written_axes(const Graph& graph, const Node& node);

/// The same, sorted, each once, in [0, rank). InputError where they are not known.
std::vector<std::size_t> axes_of(const Graph& graph, const Node& node, std::size_t rank,
                                 bool& given);

/// The integers of a known input. InputError where they are computed by the network.
std::vector<std::int64_t> known_integers(const Graph& graph, const Node& node, std::size_t input);

/// What Slice takes of each dimension of its input.
struct SliceRange {
    std::int64_t start = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
};
std::vector<SliceRange> slice_ranges(const Graph& graph, const Node& node);

}  // namespace lockstep::network
