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

}  // namespace lockstep::cuda
