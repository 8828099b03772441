// SPDX-License-Identifier: Apache-2.0
// Operators that the compiler has no lowering for, written with those that it has.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Rewrites an FP32 network for a generation: convolutions and pooling over one dimension over two,
/// normalisations by known statistics as products and sums, reductions and softmax along any axes
/// along the last one, activations without an instruction by others. What stays is compiled as it
/// is, or refused. Shapes must be inferred, and are afterwards. Values may move in their last bits.
void legalise_for_tpu(Graph& graph, int generation);

}  // namespace lockstep::network
