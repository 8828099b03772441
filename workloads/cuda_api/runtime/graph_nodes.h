// SPDX-License-Identifier: Apache-2.0
// From CUDA's node parameters to operations; shared by the graph functions.
#pragma once

#include <functional>

#include "workloads/cuda_api/state/graph.h"

namespace lockstep::cuda {

Copy copy_of(const abi::Memcpy3D& parameters);

Error kernel_operation(Context& context, const abi::KernelNodeParams* p, Operation& operation);
Error copy_operation(Context& context, const abi::Memcpy3D* p, Operation& operation);
Error fill_operation(Context& context, const abi::MemsetParams* p, Operation& operation);
Error host_operation(Context& context, const abi::HostNodeParams* p, Operation& operation);
Error node_operation(Context& context, abi::GraphNodeParams* p, Operation& operation);

Error add_node(GraphNode** result, Graph* graph, GraphNode* const* dependencies, std::size_t count,
               const std::function<Error(Context&, Operation&)>& make);

/// Replaces what a node does by something of the same type.
Error set_operation(Context& context, GraphNode& node,
                    const std::function<Error(Context&, Operation&)>& make);
/// ... of the node of an executable graph that a node of its source became.
Error set_in_exec(GraphExec* exec, GraphNode* node,
                  const std::function<Error(Context&, Operation&)>& make);

Error update(GraphExec* exec, Graph* graph, abi::GraphExecUpdateResultInfo& info);
Error edges_of(Graph* graph, GraphNode** from, GraphNode** to, std::size_t* count);
Error change_edges(Graph* graph, GraphNode* const* from, GraphNode* const* to, std::size_t count,
                   bool add);
Error neighbours(GraphNode* node, GraphNode** result, std::size_t* count, bool dependents);

}  // namespace lockstep::cuda
