// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing: forward values are computed again for the backward pass instead of
// being kept. Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016).
#pragma once

#include <cstddef>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// The first `forward` nodes are the forward pass, in an order in which they can be computed, and
/// the rest reads from them. They are cut into `segments` of as many nodes; what a later segment
/// reads and what `kept` names stays, all else that the rest reads is computed again right before
/// it is first read, from what stayed. The last segment is not computed again: its gradients come
/// first. Values are the same to the bit.
void recompute(Graph& graph, std::size_t forward, int segments, const std::vector<ValueId>& kept);

/// The most bytes that computed values take at once, when nodes run in their order and a value
/// lives until its last reader.
std::int64_t peak_bytes(const Graph& graph);

}  // namespace lockstep::network
