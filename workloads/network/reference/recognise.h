// SPDX-License-Identifier: Apache-2.0
// Operators that older opsets, or exporters, write as several simpler ones.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// x / sqrt(2) -> Erf -> + 1 -> * x -> / 2, and the tanh form that GPT-2 has, as one Gelu each.
/// Shapes must be inferred. Gives the number found; the new node has the last one's name.
int recognise_gelu(Graph& graph);

/// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale (+ bias) over the last dimension as one
/// LayerNormalization each. As recognise_gelu.
int recognise_layer_normalisation(Graph& graph);

/// exp(x - max(x)) / sum(exp(x - max(x))) over one dimension, which is kept, as one Softmax each,
/// as StableHLO has it. As recognise_gelu.
int recognise_softmax(Graph& graph);

}  // namespace lockstep::network
