// SPDX-License-Identifier: Apache-2.0
// Operators that a machine has no lowering for, written with those that it has. A compiler for an
// accelerator, XLA among them, has few kernels and turns everything else into them. Here each rule
// replaces one node; the transpositions and reshapes that it adds only change how a value is seen.
// A machine chooses its rules (tpu/legalise.cpp).
#pragma once

#include <span>

#include "workloads/network/decompose/node_writer.h"

namespace lockstep::network::compile {

/// Writes the nodes that stand for one of an FP32 network, or gives false: not its operator, or
/// fine as it is. Values may move in their last bits.
using Rule = bool (*)(NodeWriter& w, Graph& graph, const Node& node);

/// Rewrites the nodes that have no scale by the first rule that writes them, and what was written
/// likewise. Shapes must be inferred, and are afterwards.
void legalise(Graph& graph, std::span<const Rule> rules);

// legalise.cpp
bool write_in_two_dimensions(NodeWriter&, Graph&, const Node&);  ///< windows over one dimension
bool write_flat_pool(NodeWriter&, Graph&, const Node&);  ///< windows over three, some of them 1
bool write_padded_average(NodeWriter&, Graph&, const Node&);  ///< ceil_mode past counted padding
bool write_copy(NodeWriter&, Graph&, const Node&);            ///< Dropout; Sum, Max, Min of one
bool write_chain(NodeWriter&, Graph&, const Node&);           ///< Max, Min of more than two, Sum
bool write_vector_product(NodeWriter&, Graph&, const Node&);  ///< MatMul with a vector
bool write_quotient(NodeWriter&, Graph&, const Node&);        ///< Div by a constant as Mul
bool write_gemm(NodeWriter&, Graph&, const Node&);  ///< alpha, beta, transA and C by themselves

// legalise_rows.cpp
/// Reductions of axes of 1 alone: the same elements in another shape.
bool write_reduced_ones(NodeWriter&, Graph&, const Node&);
bool write_image_mean(NodeWriter&, Graph&, const Node&);  ///< ReduceMean as GlobalAveragePool
/// BatchNormalization by itself: as a 1x1 convolution in as many groups as channels ...
bool write_normalising_convolution(NodeWriter&, Graph&, const Node&);
bool write_normalising_product(NodeWriter&, Graph&, const Node&);  ///< ... or a product and a sum
/// Reductions, softmax and normalisation along axes that are not the last.
bool write_along_last_axis(NodeWriter&, Graph&, const Node&);

// legalise_training.cpp
bool write_max_pool_gradient(NodeWriter&, Graph&, const Node&);  ///< tap after tap
bool write_computed_bias(NodeWriter&, Graph&, const Node&);      ///< of a Conv: a sum after it
bool write_scattered_sum(NodeWriter&, Graph&, const Node&);      ///< of rows: a product with ones

// legalise_elements.cpp
bool write_elements(NodeWriter&, Graph&, const Node&);  ///< functions, logic, choices by others

}  // namespace lockstep::network::compile
