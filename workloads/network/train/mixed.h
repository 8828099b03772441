// SPDX-License-Identifier: Apache-2.0
// Mixed precision: products in a narrow type, what needs range or exactness in fp32.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Rewrites the forward graph: operands of products are cast to `type` (bf16 or fp16); softmax,
/// normalisation, reductions and functions are computed in fp32; all else in the widest type of its
/// operands, as PyTorch's autocast has it. Weights and other inputs stay fp32 and are cast where
/// they are read. Gives the output in fp32. Shapes must be inferred, and are afterwards.
ValueId use_mixed_precision(Graph& graph, ElementType type, ValueId output);

}  // namespace lockstep::network
