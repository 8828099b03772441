// SPDX-License-Identifier: Apache-2.0
// A graph in bfloat16 or another type of 16 bits, or with products of it.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// The graph with bf16 in place of every fp32 value; weights and constants are rounded to nearest
/// even. Each node computes in FP32 on what it reads and rounds what it gives (execute.h), as a
/// matrix unit with bf16 operands and fp32 sums, and a vector unit of fp32, do. Shapes must be
/// inferred.
Graph cast_to_bf16(const Graph& graph);
/// The same in another type of 16 bits.
Graph cast_floats(const Graph& graph, ElementType type);

/// The graph with the fp32 operands of matrix products and convolutions rounded to bf16 (or another
/// type of 16 bits) first, all
/// else in fp32: what a matrix unit with bf16 multipliers makes of fp32 tensors. For the executor:
/// products get operands of another type than their results. Shapes must be inferred.
Graph round_product_operands(const Graph& graph, ElementType type = ElementType::kBf16);

/// The graph with bf16 in place of the fp32 values that products and functions of elements give and
/// that matrix products alone read, at once or after a change of shape: a matrix unit rounds them
/// to that anyhow (XLA's bfloat16 propagation; that it does so on TPUs follows from the traffic
/// that was measured). The graph's outputs stay as they are. Shapes must be inferred.
Graph narrow_product_operands(const Graph& graph);

}  // namespace lockstep::network
