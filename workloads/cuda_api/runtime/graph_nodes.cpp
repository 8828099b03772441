// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs: making them, and reading and changing what they do.
#include "workloads/cuda_api/runtime/graph_nodes.h"

#include <utility>

#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/state/graph.h"
#include "workloads/cuda_api/state/launch.h"

namespace lockstep::cuda {

Error kernel_operation(Context& context, const abi::KernelNodeParams* p, Operation& operation) {
    if (!p) return Error::kInvalidValue;
    KernelLaunch launch;
    const Error error = make_launch(context, p->func, p->gridDim, p->blockDim, p->kernelParams,
                                    p->sharedMemBytes, launch, p->extra);
    operation = std::move(launch);
    return error != Error::kSuccess ? error : check(context, operation);
}

Error copy_operation(Context& context, const abi::Memcpy3D* p, Operation& operation) {
    if (!p) return Error::kInvalidValue;
    operation = copy_of(*p);
    return check(context, operation);
}

Error fill_operation(Context& context, const abi::MemsetParams* p, Operation& operation) {
    if (!p) return Error::kInvalidValue;
    operation = Fill{p->dst, p->value, p->elementSize, p->width, p->height, 1, p->pitch, 0};
    return check(context, operation);
}

Error host_operation(Context& context, const abi::HostNodeParams* p, Operation& operation) {
    if (!p) return Error::kInvalidValue;
    operation = HostCall{p->fn, p->userData};
    return check(context, operation);
}

namespace {

Error line_operation(Context& context, void* dst, const void* src, std::size_t bytes,
                     abi::MemcpyKind kind, Operation& operation) {
    operation = Copy{dst, src, bytes, 1, 1, bytes, bytes, bytes, bytes, kind};
    return check(context, operation);
}

Error symbol_operation(Context& context, const void* symbol, void* other, bool to_symbol,
                       std::size_t bytes, std::size_t offset, abi::MemcpyKind kind,
                       Operation& operation) {
    void* address = nullptr;
    std::size_t size = 0;
    const Error error = context.modules.find_variable(symbol, address, size);
    if (error != Error::kSuccess) return error;
    if (offset > size || bytes > size - offset) return Error::kInvalidValue;
    char* const place = static_cast<char*>(address) + offset;
    return to_symbol ? line_operation(context, place, other, bytes, kind, operation)
                     : line_operation(context, other, place, bytes, kind, operation);
}

using Make = std::function<Error(Context&, Operation&)>;

Error set(GraphNode* node, const Make& make) {
    return call([&](Context& context) {
        if (!context.graphs.is_node(node)) return Error::kInvalidValue;
        return set_operation(context, *node, make);
    });
}

/// Calls body with what the node does, where it is of this type.
template <class T>
Error get(GraphNode* node, const std::function<Error(T&)>& body) {
    return call([&](Context& context) {
        if (!context.graphs.is_node(node)) return Error::kInvalidValue;
        T* operation = std::get_if<T>(&node->operation);
        return operation ? body(*operation) : Error::kInvalidValue;
    });
}

abi::Memcpy3D parameters_of(const Copy& box) {
    abi::Memcpy3D p{};
    p.dstPtr = {box.dst, box.dst_pitch, box.width,
                box.dst_pitch ? box.dst_slice / box.dst_pitch : box.height};
    p.srcPtr = {const_cast<void*>(box.src), box.src_pitch, box.width,
                box.src_pitch ? box.src_slice / box.src_pitch : box.height};
    p.extent = {box.width, box.height, box.depth};
    p.kind = box.kind;
    return p;
}

}  // namespace

Error add_node(GraphNode** result, Graph* graph, GraphNode* const* dependencies, std::size_t count,
               const Make& make) {
    return call([&](Context& context) {
        const auto target = context.graphs.find(graph);
        if (!result || !target || (count != 0 && !dependencies)) return Error::kInvalidValue;
        for (std::size_t i = 0; i < count; ++i)
            if (!target->contains(dependencies[i])) return Error::kInvalidValue;
        Operation operation = Nothing{};
        const Error error = make(context, operation);
        if (error != Error::kSuccess) return error;
        *result = target->add(std::move(operation), {dependencies, dependencies + count});
        return Error::kSuccess;
    });
}

Error set_operation(Context& context, GraphNode& node, const Make& make) {
    Operation operation = Nothing{};
    const Error error = make(context, operation);
    if (error != Error::kSuccess) return error;
    if (node_type(operation) != node_type(node.operation)) return Error::kInvalidValue;
    // A node keeps its attributes; of another kernel it has that one's own clusters.
    if (auto* launch = std::get_if<KernelLaunch>(&operation)) {
        const auto& before = std::get<KernelLaunch>(node.operation);
        launch->cooperative = before.cooperative;
        launch->programmatic = before.programmatic;
        if (launch->kernel == before.kernel) launch->cluster = before.cluster;
    }
    node.operation = std::move(operation);
    return Error::kSuccess;
}

#define LOCKSTEP_ADD GraphNode **result, Graph *graph, GraphNode *const *needs, std::size_t count

LOCKSTEP_CUDA Error cudaGraphAddKernelNode(LOCKSTEP_ADD, const abi::KernelNodeParams* p) {
    return add_node(result, graph, needs, count,
                    [&](Context& r, Operation& o) { return kernel_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphAddMemcpyNode(LOCKSTEP_ADD, const abi::Memcpy3D* p) {
    return add_node(result, graph, needs, count,
                    [&](Context& r, Operation& o) { return copy_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphAddMemcpyNode1D(LOCKSTEP_ADD, void* dst, const void* src,
                                             std::size_t bytes, abi::MemcpyKind kind) {
    return add_node(result, graph, needs, count, [&](Context& r, Operation& o) {
        return line_operation(r, dst, src, bytes, kind, o);
    });
}
LOCKSTEP_CUDA Error cudaGraphAddMemcpyNodeToSymbol(LOCKSTEP_ADD, const void* symbol,
                                                   const void* src, std::size_t bytes,
                                                   std::size_t offset, abi::MemcpyKind kind) {
    return add_node(result, graph, needs, count, [&](Context& r, Operation& o) {
        return symbol_operation(r, symbol, const_cast<void*>(src), true, bytes, offset, kind, o);
    });
}
LOCKSTEP_CUDA Error cudaGraphAddMemcpyNodeFromSymbol(LOCKSTEP_ADD, void* dst, const void* symbol,
                                                     std::size_t bytes, std::size_t offset,
                                                     abi::MemcpyKind kind) {
    return add_node(result, graph, needs, count, [&](Context& r, Operation& o) {
        return symbol_operation(r, symbol, dst, false, bytes, offset, kind, o);
    });
}
LOCKSTEP_CUDA Error cudaGraphAddMemsetNode(LOCKSTEP_ADD, const abi::MemsetParams* p) {
    return add_node(result, graph, needs, count,
                    [&](Context& r, Operation& o) { return fill_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphAddHostNode(LOCKSTEP_ADD, const abi::HostNodeParams* p) {
    return add_node(result, graph, needs, count,
                    [&](Context& r, Operation& o) { return host_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphAddEmptyNode(LOCKSTEP_ADD) {
    return add_node(result, graph, needs, count,
                    [](Context&, Operation&) { return Error::kSuccess; });
}
LOCKSTEP_CUDA Error cudaGraphAddChildGraphNode(LOCKSTEP_ADD, Graph* child) {
    return add_node(result, graph, needs, count, [&](Context& r, Operation& o) {
        const auto source = r.graphs.find(child);
        if (!source) return Error::kInvalidValue;
        o = ChildGraph{source->clone()};
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphAddEventRecordNode(LOCKSTEP_ADD, Event* event) {
    return add_node(result, graph, needs, count, [&](Context& r, Operation& o) {
        o = RecordEvent{event};
        return r.streams.is_event(event) ? Error::kSuccess : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphAddEventWaitNode(LOCKSTEP_ADD, Event* event) {
    return add_node(result, graph, needs, count, [&](Context& r, Operation& o) {
        o = WaitEvent{event};
        return r.streams.is_event(event) ? Error::kSuccess : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphAddMemAllocNode(LOCKSTEP_ADD, abi::MemAllocNodeParams* p) {
    return add_node(result, graph, needs, count, [&](Context& r, Operation& o) {
        if (!p || p->bytesize == 0) return Error::kInvalidValue;
        const Error error = r.memory.allocate(&p->dptr, p->bytesize, MemoryKind::kDevice);
        if (error != Error::kSuccess) return error;
        r.memory.keep_for_graph(p->dptr);
        o = Allocate{*p};
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphAddMemFreeNode(LOCKSTEP_ADD, void* pointer) {
    return add_node(result, graph, needs, count, [&](Context&, Operation& o) {
        o = Free{pointer};
        return pointer ? Error::kSuccess : Error::kInvalidValue;
    });
}

LOCKSTEP_CUDA Error cudaGraphKernelNodeGetParams(GraphNode* node, abi::KernelNodeParams* p) {
    return get<KernelLaunch>(node, [&](KernelLaunch& launch) {
        if (!p) return Error::kInvalidValue;
        // Programs compare it with the address of their __global__ function.
        const void* const stub = launch.kernel->host_function;
        *p = {stub ? const_cast<void*>(stub) : launch.kernel,
              {launch.grid.x, launch.grid.y, launch.grid.z},
              {launch.block.x, launch.block.y, launch.block.z},
              static_cast<unsigned>(launch.dynamic_shared),
              launch.arguments.data(),
              nullptr};
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphKernelNodeSetParams(GraphNode* node, const abi::KernelNodeParams* p) {
    return set(node, [&](Context& r, Operation& o) { return kernel_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphMemcpyNodeGetParams(GraphNode* node, abi::Memcpy3D* p) {
    return get<Copy>(node, [&](Copy& box) {
        return p ? (*p = parameters_of(box), Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphMemcpyNodeSetParams(GraphNode* node, const abi::Memcpy3D* p) {
    return set(node, [&](Context& r, Operation& o) { return copy_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphMemcpyNodeSetParams1D(GraphNode* node, void* dst, const void* src,
                                                   std::size_t bytes, abi::MemcpyKind kind) {
    return set(node, [&](Context& r, Operation& o) {
        return line_operation(r, dst, src, bytes, kind, o);
    });
}
LOCKSTEP_CUDA Error cudaGraphMemcpyNodeSetParamsToSymbol(GraphNode* node, const void* symbol,
                                                         const void* src, std::size_t bytes,
                                                         std::size_t offset, abi::MemcpyKind kind) {
    return set(node, [&](Context& r, Operation& o) {
        return symbol_operation(r, symbol, const_cast<void*>(src), true, bytes, offset, kind, o);
    });
}
LOCKSTEP_CUDA Error cudaGraphMemcpyNodeSetParamsFromSymbol(GraphNode* node, void* dst,
                                                           const void* symbol, std::size_t bytes,
                                                           std::size_t offset,
                                                           abi::MemcpyKind kind) {
    return set(node, [&](Context& r, Operation& o) {
        return symbol_operation(r, symbol, dst, false, bytes, offset, kind, o);
    });
}
LOCKSTEP_CUDA Error cudaGraphMemsetNodeGetParams(GraphNode* node, abi::MemsetParams* p) {
    return get<Fill>(node, [&](Fill& box) {
        if (!p) return Error::kInvalidValue;
        *p = {box.dst, box.pitch, box.value, box.element_bytes, box.width, box.height};
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphMemsetNodeSetParams(GraphNode* node, const abi::MemsetParams* p) {
    return set(node, [&](Context& r, Operation& o) { return fill_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphHostNodeGetParams(GraphNode* node, abi::HostNodeParams* p) {
    return get<HostCall>(node, [&](HostCall& host) {
        return p ? (*p = {host.function, host.data}, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphHostNodeSetParams(GraphNode* node, const abi::HostNodeParams* p) {
    return set(node, [&](Context& r, Operation& o) { return host_operation(r, p, o); });
}
LOCKSTEP_CUDA Error cudaGraphChildGraphNodeGetGraph(GraphNode* node, Graph** graph) {
    return get<ChildGraph>(node, [&](ChildGraph& child) {
        return graph ? (*graph = child.graph.get(), Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphMemAllocNodeGetParams(GraphNode* node, abi::MemAllocNodeParams* p) {
    return get<Allocate>(node, [&](Allocate& allocate) {
        return p ? (*p = allocate.parameters, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphMemFreeNodeGetParams(GraphNode* node, void** pointer) {
    return get<Free>(node, [&](Free& free) {
        return pointer ? (*pointer = free.pointer, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphEventRecordNodeGetEvent(GraphNode* node, Event** event) {
    return get<RecordEvent>(node, [&](RecordEvent& record) {
        return event ? (*event = record.event, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphEventRecordNodeSetEvent(GraphNode* node, Event* event) {
    return get<RecordEvent>(node, [&](RecordEvent& record) {
        return event ? (record.event = event, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphEventWaitNodeSetEvent(GraphNode* node, Event* event) {
    return get<WaitEvent>(node, [&](WaitEvent& wait) {
        return event ? (wait.event = event, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaGraphEventWaitNodeGetEvent(GraphNode* node, Event** event) {
    return get<WaitEvent>(node, [&](WaitEvent& wait) {
        return event ? (*event = wait.event, Error::kSuccess) : Error::kInvalidValue;
    });
}

LOCKSTEP_CUDA Error cudaGraphKernelNodeSetAttribute(GraphNode* node, abi::LaunchAttributeId id,
                                                    const abi::LaunchAttributeValue* value) {
    return get<KernelLaunch>(node, [&](KernelLaunch& launch) {
        return value ? set_attribute(launch, id, *value) : Error::kInvalidValue;
    });
}

LOCKSTEP_CUDA Error cudaGraphKernelNodeGetAttribute(GraphNode* node, abi::LaunchAttributeId id,
                                                    abi::LaunchAttributeValue* value) {
    return get<KernelLaunch>(node, [&](KernelLaunch& launch) {
        if (!value) return Error::kInvalidValue;
        if (id == abi::kLaunchAttributeCooperative)
            value->cooperative = launch.cooperative;
        else if (id == abi::kLaunchAttributePriority)
            value->priority = 0;
        else if (id == abi::kLaunchAttributeClusterDimension)
            value->clusterDim = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
        else
            return Error::kInvalidValue;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGraphKernelNodeCopyAttributes(GraphNode* to, GraphNode* from) {
    return get<KernelLaunch>(from, [&](KernelLaunch& source) {
        KernelLaunch* const target = to ? std::get_if<KernelLaunch>(&to->operation) : nullptr;
        if (!target) return Error::kInvalidValue;
        target->cooperative = source.cooperative;
        target->programmatic = source.programmatic;
        target->cluster = source.cluster;
        return Error::kSuccess;
    });
}

/// One call for all kinds of nodes (CUDA 12 and later).
Error node_operation(Context& context, abi::GraphNodeParams* p, Operation& operation) {
    if (!p) return Error::kInvalidValue;
    switch (p->type) {
        case abi::kNodeKernel:
            return kernel_operation(context, &p->kernel, operation);
        case abi::kNodeMemcpy:
            return copy_operation(context, &p->memcpy.copyParams, operation);
        case abi::kNodeMemset:
            return fill_operation(context, &p->memset, operation);
        case abi::kNodeHost:
            return host_operation(context, &p->host, operation);
        case abi::kNodeEmpty:
            return Error::kSuccess;
        case abi::kNodeEventRecord:
            operation = RecordEvent{p->event};
            return Error::kSuccess;
        case abi::kNodeWaitEvent:
            operation = WaitEvent{p->event};
            return Error::kSuccess;
        default:
            not_implemented("cudaGraphAddNode with this type of node");
    }
}

}  // namespace lockstep::cuda
