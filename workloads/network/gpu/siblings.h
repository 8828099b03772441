// SPDX-License-Identifier: Apache-2.0
// Products of one operand by several weights, as the queries, keys and values of attention are, as
// one product by all of them side by side, whose result is split: one launch instead of several,
// and more tiles for the SMs.
#pragma once

#include "workloads/network/gpu/executable.h"
#include "workloads/network/gpu/target.h"

namespace lockstep::network::gpu {

/// Joins MatMuls of two-dimensional weights (and biases along their columns) where the model of
/// choose.h says that the one takes less time; those whose results an elementwise node reads stay,
/// for a product computes that with its sums. Gives how many groups it joined.
int join_siblings(Graph& graph, const Target& target, Precision precision);

}  // namespace lockstep::network::gpu
