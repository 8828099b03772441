// SPDX-License-Identifier: Apache-2.0
// Rewrites that leave a network's results as they are.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Infers all shapes (infer_shapes), takes composite operators apart (decompose), and computes on
/// the way each node that depends on constants and on shapes alone, in FP64 for floating values;
/// such nodes are removed. Results of more than `limit` elements stay nodes. InputError where a
/// shape depends on the network's inputs' values.
void infer_and_fold(Graph& graph, std::int64_t limit = std::int64_t{1} << 24);

/// Folds each BatchNormalization that is the only reader of a Conv's (or Gemm's) output into its
/// weights and bias, in FP64, rounded once. Gives the number folded.
int fold_batch_normalisation(Graph& graph);

/// Removes nodes whose outputs nobody reads, and Identity and Dropout.
void remove_unused(Graph& graph);

/// All of these, in this order, and those of recognise.h.
void simplify(Graph& graph);

}  // namespace lockstep::network
