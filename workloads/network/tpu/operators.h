// SPDX-License-Identifier: Apache-2.0
// What a TPU does with each operator: a row of operators.cpp.
#pragma once

#include <optional>

#include "workloads/network/compile/refusal.h"
#include "workloads/network/tpu/compile.h"

namespace lockstep::network::lowering {

struct Compilation;

/// A node that a target may be given, in a graph that was prepared for it.
struct Asked {
    const Graph& graph;
    const TpuTarget& target;
    const Node& node;
    /// Its results are scaled by multiplier and shift.
    bool is_fixed_point() const;
};

/// What the target's core has no way for, whatever the operator. Generation 1 has integers alone,
/// and its weight memory is read-only while it infers (Jouppi et al., ISCA 2017, section 2): no
/// instruction brings a computed value there.
compile::Reason core_lacks(const Asked& asked);
/// Why the target's core does not compute the node; nothing where it does, as far as the graph
/// says.
compile::Reason can_lower(const Asked& asked);
/// Writes the node's instructions. Only of what can be lowered. compile::Refusal where its operands
/// show otherwise.
void lower(Compilation& c, const Node& node);

/// As a function of one element on the vector unit; nothing where it has none for the node.
std::optional<tpu::Function> function_of(const Graph& graph, const Node& node);
/// Of a node that lower_binary() takes.
tpu::Function binary_function_of(const Graph& graph, const Node& node);
/// The same where it can follow another operation at once: on integers, a rectifier that keeps the
/// scale.
std::optional<tpu::Function> fused_function(const Graph& graph, const Node& node);
/// Of a matrix product: one matrix, known when the network is compiled.
bool has_constant_weights(const Graph& graph, const Node& node);

// The lowerings, by family, and what keeps a node from them.
void lower_product(Compilation& c, const Node& node);
compile::Reason reason_product(const Asked& a);
/// Of the node and those that follow it at once as one kernel, a reduction of all of its elements
/// at the end; false where there are none such.
bool lower_chain(Compilation& c, const Node& node);
void lower_unary(Compilation& c, const Node& node);
compile::Reason reason_unary(const Asked& a);
void lower_binary(Compilation& c, const Node& node);
compile::Reason reason_binary(const Asked& a);
void lower_clip(Compilation& c, const Node& node);
compile::Reason reason_clip(const Asked& a);
void lower_choice(Compilation& c, const Node& node);
compile::Reason reason_choice(const Asked& a);
void lower_pool(Compilation& c, const Node& node);
compile::Reason reason_pool(const Asked& a);
void lower_softmax(Compilation& c, const Node& node);
compile::Reason reason_softmax(const Asked& a);
/// Whether the node is softmax along the last dimension but one.
bool is_along_rows(const Graph& graph, const Node& node);
void lower_layer_normalisation(Compilation& c, const Node& node);
compile::Reason reason_row(const Asked& a);
void lower_reduction(Compilation& c, const Node& node);
compile::Reason reason_reduction(const Asked& a);
void lower_view(Compilation& c, const Node& node);
compile::Reason reason_view(const Asked& a);
void lower_gather(Compilation& c, const Node& node);
compile::Reason reason_gather(const Asked& a);
void lower_concat(Compilation& c, const Node& node);
compile::Reason reason_concat(const Asked& a);
void lower_pad(Compilation& c, const Node& node);
compile::Reason reason_pad(const Asked& a);
void lower_expand(Compilation& c, const Node& node);

}  // namespace lockstep::network::lowering
