// SPDX-License-Identifier: Apache-2.0
// Graphs as a whole and their executable form.
#include "workloads/cuda_api/state/graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/runtime/graph_nodes.h"

namespace lockstep::cuda {
namespace {

Error with_graph(Graph* handle, const std::function<Error(Context&, Graph&)>& body) {
    return call([&](Context& context) {
        const auto graph = context.graphs.find(handle);
        return graph ? body(context, *graph) : Error::kInvalidValue;
    });
}

/// Hands out handles as CUDA does: the count alone where there is no room for them.
Error list(const std::vector<GraphNode*>& nodes, GraphNode** result, std::size_t* count) {
    if (!count) return Error::kInvalidValue;
    if (result)
        for (std::size_t i = 0; i < *count; ++i) result[i] = i < nodes.size() ? nodes[i] : nullptr;
    *count = result ? std::min(*count, nodes.size()) : nodes.size();
    return Error::kSuccess;
}

}  // namespace

Error set_in_exec(GraphExec* exec, GraphNode* node,
                  const std::function<Error(Context&, Operation&)>& make) {
    return call([&](Context& context) {
        if (!context.graphs.is_exec(exec)) return Error::kInvalidValue;
        GraphNode* const clone = exec->graph->find_clone(node);
        return clone ? set_operation(context, *clone, make) : Error::kInvalidValue;
    });
}

Error instantiate(GraphExec** result, Graph* handle, unsigned long long flags) {
    return with_graph(handle, [&](Context& context, Graph& graph) {
        if (!result) return Error::kInvalidValue;
        if (!graph.nodes().empty() && graph.order().empty()) return Error::kInvalidValue;
        *result = context.graphs.keep_exec(graph.clone(), flags);
        return Error::kSuccess;
    });
}

Error update(GraphExec* exec, Graph* handle, abi::GraphExecUpdateResultInfo& info) {
    info = {abi::kUpdateSuccess, nullptr, nullptr};
    return with_graph(handle, [&](Context& context, Graph& graph) {
        if (!context.graphs.is_exec(exec)) return Error::kInvalidValue;
        const auto& old_nodes = exec->graph->nodes();
        const auto& new_nodes = graph.nodes();
        const auto edges = [](const Graph& g) { return g.edges().size(); };
        if (old_nodes.size() != new_nodes.size() || edges(*exec->graph) != edges(graph))
            info.result = abi::kUpdateTopologyChanged;
        for (std::size_t i = 0; info.result == abi::kUpdateSuccess && i < new_nodes.size(); ++i)
            if (node_type(old_nodes[i]->operation) != node_type(new_nodes[i]->operation)) {
                info.result = abi::kUpdateNodeTypeChanged;
                info.errorNode = new_nodes[i].get();
            }
        if (info.result != abi::kUpdateSuccess) return Error::kGraphExecUpdateFailure;
        auto updated = graph.clone();
        // Handles of the graph it was made from keep naming its nodes.
        for (std::size_t i = 0; i < new_nodes.size(); ++i)
            updated->nodes()[i]->original = old_nodes[i]->original;
        exec->graph = std::move(updated);
        return Error::kSuccess;
    });
}

Error edges_of(Graph* handle, GraphNode** from, GraphNode** to, std::size_t* count) {
    return with_graph(handle, [&](Context&, Graph& graph) {
        if (!count || !from != !to) return Error::kInvalidValue;
        const auto edges = graph.edges();
        for (std::size_t i = 0; from && i < *count; ++i) {
            from[i] = i < edges.size() ? edges[i].first : nullptr;
            to[i] = i < edges.size() ? edges[i].second : nullptr;
        }
        *count = from ? std::min(*count, edges.size()) : edges.size();
        return Error::kSuccess;
    });
}

Error change_edges(Graph* handle, GraphNode* const* from, GraphNode* const* to, std::size_t count,
                   bool add) {
    return with_graph(handle, [&](Context&, Graph& graph) {
        if (count != 0 && (!from || !to)) return Error::kInvalidValue;
        for (std::size_t i = 0; i < count; ++i) {
            if (!graph.contains(from[i]) || !graph.contains(to[i])) return Error::kInvalidValue;
            auto& needs = to[i]->dependencies;
            if (add == (std::find(needs.begin(), needs.end(), from[i]) != needs.end()))
                return Error::kInvalidValue;
            if (add)
                needs.push_back(from[i]);
            else
                std::erase(needs, from[i]);
        }
        return Error::kSuccess;
    });
}

Error neighbours(GraphNode* node, GraphNode** result, std::size_t* count, bool dependents) {
    return call([&](Context& context) {
        if (!context.graphs.is_node(node)) return Error::kInvalidValue;
        if (!dependents) return list(node->dependencies, result, count);
        std::vector<GraphNode*> nodes;
        for (const auto& [from, to] : node->graph->edges())
            if (from == node) nodes.push_back(to);
        return list(nodes, result, count);
    });
}

LOCKSTEP_CUDA Error cudaGraphCreate(Graph** graph, unsigned flags) {
    return call([&](Context& context) {
        if (!graph || flags != 0) return Error::kInvalidValue;
        *graph = context.graphs.keep(std::make_shared<Graph>(context));
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphDestroy(Graph* graph) {
    return call([&](Context& context) { return context.graphs.destroy(graph); });
}
LOCKSTEP_CUDA Error cudaGraphClone(Graph** result, Graph* handle) {
    return with_graph(handle, [&](Context& context, Graph& graph) {
        return result ? (*result = context.graphs.keep(graph.clone()), Error::kSuccess)
                      : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphNodeFindInClone(GraphNode** result, GraphNode* original,
                                             Graph* clone) {
    return with_graph(clone, [&](Context&, Graph& graph) {
        GraphNode* const node = graph.find_clone(original);
        return result && node ? (*result = node, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphGetNodes(Graph* handle, GraphNode** nodes, std::size_t* count) {
    return with_graph(handle, [&](Context&, Graph& graph) {
        std::vector<GraphNode*> all;
        for (const auto& node : graph.nodes()) all.push_back(node.get());
        return list(all, nodes, count);
    });
}
LOCKSTEP_CUDA Error cudaGraphGetRootNodes(Graph* handle, GraphNode** nodes, std::size_t* count) {
    return with_graph(handle, [&](Context&, Graph& graph) {
        std::vector<GraphNode*> roots;
        for (const auto& node : graph.nodes())
            if (node->dependencies.empty()) roots.push_back(node.get());
        return list(roots, nodes, count);
    });
}
LOCKSTEP_CUDA Error cudaGraphNodeGetType(GraphNode* node, abi::GraphNodeType* type) {
    return call([&](Context& context) {
        if (!type || !context.graphs.is_node(node)) return Error::kInvalidValue;
        *type = node_type(node->operation);
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphDestroyNode(GraphNode* node) {
    return call([&](Context& context) {
        if (!context.graphs.is_node(node)) return Error::kInvalidValue;
        node->graph->remove(node);
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaGraphInstantiateWithFlags(GraphExec** exec, Graph* graph,
                                                  unsigned long long flags) {
    return instantiate(exec, graph, flags);
}
LOCKSTEP_CUDA Error cudaGraphInstantiateWithParams(GraphExec** exec, Graph* graph,
                                                   abi::GraphInstantiateParams* p) {
    const Error error = instantiate(exec, graph, p ? p->flags : 0);
    if (p) {
        p->errNode_out = nullptr;
        p->result_out = error == Error::kSuccess ? 0 : 1;
    }
    return error;
}
LOCKSTEP_CUDA Error cudaGraphExecGetFlags(GraphExec* exec, unsigned long long* flags) {
    return call([&](Context& context) {
        if (!flags || !context.graphs.is_exec(exec)) return Error::kInvalidValue;
        *flags = exec->flags;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphExecDestroy(GraphExec* exec) {
    return call([&](Context& context) { return context.graphs.destroy_exec(exec); });
}
LOCKSTEP_CUDA Error cudaGraphUpload(GraphExec* exec, Stream* stream) {
    return call([&](Context& context) {
        if (!context.streams.find(stream)) return Error::kInvalidResourceHandle;
        return context.graphs.is_exec(exec) ? Error::kSuccess : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphLaunch(GraphExec* exec, Stream* stream) {
    return call([&](Context& context) {
        if (!context.graphs.is_exec(exec)) return Error::kInvalidValue;
        return context.streams.submit(stream, ChildGraph{exec->graph});
    });
}

LOCKSTEP_CUDA Error cudaGraphExecKernelNodeSetParams(GraphExec* exec, GraphNode* node,
                                                     const abi::KernelNodeParams* p) {
    return set_in_exec(exec, node,
                       [&](Context& r, Operation& o) { return kernel_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphExecMemcpyNodeSetParams(GraphExec* exec, GraphNode* node,
                                                     const abi::Memcpy3D* p) {
    return set_in_exec(exec, node,
                       [&](Context& r, Operation& o) { return copy_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphExecMemcpyNodeSetParams1D(GraphExec* exec, GraphNode* node, void* dst,
                                                       const void* src, std::size_t bytes,
                                                       abi::MemcpyKind kind) {
    return set_in_exec(exec, node, [&](Context& r, Operation& o) {
        o = Copy{dst, src, bytes, 1, 1, bytes, bytes, bytes, bytes, kind};
        return check(r, o);
    });
}
LOCKSTEP_CUDA Error cudaGraphExecMemsetNodeSetParams(GraphExec* exec, GraphNode* node,
                                                     const abi::MemsetParams* p) {
    return set_in_exec(exec, node,
                       [&](Context& r, Operation& o) { return fill_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphExecHostNodeSetParams(GraphExec* exec, GraphNode* node,
                                                   const abi::HostNodeParams* p) {
    return set_in_exec(exec, node,
                       [&](Context& r, Operation& o) { return host_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphExecChildGraphNodeSetParams(GraphExec* exec, GraphNode* node,
                                                         Graph* child) {
    return set_in_exec(exec, node, [&](Context& r, Operation& o) {
        const auto source = r.graphs.find(child);
        if (!source) return Error::kInvalidValue;
        o = ChildGraph{source->clone()};
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphExecEventRecordNodeSetEvent(GraphExec* exec, GraphNode* node,
                                                         Event* event) {
    return set_in_exec(exec, node, [&](Context& r, Operation& o) {
        o = RecordEvent{event};
        return r.streams.is_event(event) ? Error::kSuccess : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphExecEventWaitNodeSetEvent(GraphExec* exec, GraphNode* node,
                                                       Event* event) {
    return set_in_exec(exec, node, [&](Context& r, Operation& o) {
        o = WaitEvent{event};
        return r.streams.is_event(event) ? Error::kSuccess : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphExecNodeSetParams(GraphExec* exec, GraphNode* node,
                                               abi::GraphNodeParams* p) {
    return set_in_exec(exec, node,
                       [&](Context& r, Operation& o) { return node_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphNodeSetEnabled(GraphExec* exec, GraphNode* node, unsigned enabled) {
    return call([&](Context& context) {
        GraphNode* const clone =
            context.graphs.is_exec(exec) ? exec->graph->find_clone(node) : nullptr;
        if (!clone) return Error::kInvalidValue;
        clone->enabled = enabled != 0;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphNodeGetEnabled(GraphExec* exec, GraphNode* node, unsigned* enabled) {
    return call([&](Context& context) {
        const GraphNode* const clone =
            context.graphs.is_exec(exec) ? exec->graph->find_clone(node) : nullptr;
        if (!clone || !enabled) return Error::kInvalidValue;
        *enabled = clone->enabled;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaGraphNodeSetParams(GraphNode* node, abi::GraphNodeParams* p) {
    return call([&](Context& context) {
        if (!context.graphs.is_node(node)) return Error::kInvalidValue;
        return set_operation(context, *node,
                             [&](Context& r, Operation& o) { return node_operation(r, p, o); });
    });
}

namespace {

enum GraphMemAttribute : int { kUsedCurrent, kUsedHigh, kReservedCurrent, kReservedHigh };

}  // namespace

LOCKSTEP_CUDA Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
    return call([&](Context& context) {
        if (!context.has_device(device)) return Error::kInvalidDevice;
        if (!value || attribute < kUsedCurrent || attribute > kReservedHigh)
            return Error::kInvalidValue;
        const Memory& memory = context.memory;
        const std::uint64_t values[] = {memory.bytes_of_graphs(true), memory.graph_used_high,
                                        memory.bytes_of_graphs(false), memory.graph_reserved_high};
        std::memcpy(value, &values[attribute], sizeof(std::uint64_t));
        return Error::kSuccess;
    });
}

/// Only the high-water marks can be set, and only to 0.
LOCKSTEP_CUDA Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
    return call([&](Context& context) {
        if (!context.has_device(device)) return Error::kInvalidDevice;
        std::uint64_t wanted = 1;
        if (value) std::memcpy(&wanted, value, sizeof(wanted));
        if (wanted != 0 || (attribute != kUsedHigh && attribute != kReservedHigh))
            return Error::kInvalidValue;
        Memory& memory = context.memory;
        (attribute == kUsedHigh ? memory.graph_used_high : memory.graph_reserved_high) = 0;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaDeviceGraphMemTrim(int device) {
    return call([&](Context& context) {
        return context.has_device(device) ? Error::kSuccess : Error::kInvalidDevice;
    });
}

}  // namespace lockstep::cuda
