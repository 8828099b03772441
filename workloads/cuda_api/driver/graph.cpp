// SPDX-License-Identifier: Apache-2.0
// Graphs: by the runtime's functions, but for nodes whose parameters the driver describes in its
// own way (kernels, copies) or whose functions differ between the runtime's versions.
#include "workloads/cuda_api/driver/call.h"
#include "workloads/cuda_api/driver/copy.h"
#include "workloads/cuda_api/runtime/graph_nodes.h"

namespace lockstep::cuda::driver {
namespace {

abi::KernelNodeParams runtime_form(const KernelNode& p, Kernel* kernel) {
    return {kernel,
            {p.gridDimX, p.gridDimY, p.gridDimZ},
            {p.blockDimX, p.blockDimY, p.blockDimZ},
            p.sharedMemBytes,
            p.kernelParams,
            p.extra};
}

/// What a node of a kernel does; `has_kernel`: the parameters may have a CUkernel.
auto make_kernel(const KernelNode* p, bool has_kernel) {
    return [p, has_kernel](cuda::Context& context, Operation& operation) {
        if (!p) return Error::kInvalidValue;
        Kernel* const kernel = p->func == nullptr && has_kernel ? p->kern : p->func;
        const abi::KernelNodeParams form = runtime_form(*p, kernel);
        return kernel_operation(context, &form, operation);
    };
}

auto make_copy(const Memcpy3D* p) {
    return [p](cuda::Context& context, Operation& operation) {
        return box_operation(context, p, operation);
    };
}

Result set(GraphNode* node, const std::function<Error(cuda::Context&, Operation&)>& make) {
    return in_context([&](cuda::Context& context) {
        if (!context.graphs.is_node(node)) return Error::kInvalidValue;
        return set_operation(context, *node, make);
    });
}

/// `has_kernel`: the parameters end with a CUkernel and a context; older forms are shorter.
Result get_kernel(GraphNode* node, KernelNode* p, bool has_kernel) {
    return in_context([&](cuda::Context& context) {
        if (!p || !context.graphs.is_node(node)) return Error::kInvalidValue;
        auto* const launch = std::get_if<KernelLaunch>(&node->operation);
        if (launch == nullptr) return Error::kInvalidValue;
        p->func = launch->kernel;
        p->gridDimX = launch->grid.x;
        p->gridDimY = launch->grid.y;
        p->gridDimZ = launch->grid.z;
        p->blockDimX = launch->block.x;
        p->blockDimY = launch->block.y;
        p->blockDimZ = launch->block.z;
        p->sharedMemBytes = static_cast<unsigned>(launch->dynamic_shared);
        p->kernelParams = launch->arguments.data();
        p->extra = nullptr;
        if (has_kernel) {
            p->kern = nullptr;
            p->ctx = current_context();
        }
        return Error::kSuccess;
    });
}

Result get_copy(GraphNode* node, Memcpy3D* p) {
    return in_context([&](cuda::Context& context) {
        if (!p || !context.graphs.is_node(node)) return Error::kInvalidValue;
        const auto* const copy = std::get_if<Copy>(&node->operation);
        if (copy == nullptr) return Error::kInvalidValue;
        const auto rows = [](std::size_t slice, std::size_t pitch, std::size_t height) {
            return pitch == 0 ? height : slice / pitch;
        };
        *p = {};
        p->srcMemoryType = p->dstMemoryType = kUnifiedMemory;
        p->srcDevice = reinterpret_cast<Pointer>(copy->src);
        p->dstDevice = reinterpret_cast<Pointer>(copy->dst);
        p->srcPitch = copy->src_pitch;
        p->dstPitch = copy->dst_pitch;
        p->srcHeight = rows(copy->src_slice, copy->src_pitch, copy->height);
        p->dstHeight = rows(copy->dst_slice, copy->dst_pitch, copy->height);
        p->WidthInBytes = copy->width;
        p->Height = copy->height;
        p->Depth = copy->depth;
        return Error::kSuccess;
    });
}

/// Nothing is ever written to the log.
Error instantiate_with_log(GraphExec** exec, Graph* graph, GraphNode** error_node, char* log,
                           std::size_t log_bytes) {
    if (error_node) *error_node = nullptr;
    if (log && log_bytes != 0) *log = '\0';
    return instantiate(exec, graph, 0);
}

}  // namespace

// --- Graphs ------------------------------------------------------------------------------------

LOCKSTEP_DRIVER(cuGraphCreate, (Graph * *graph, unsigned flags)) {
    return call([&] { return cudaGraphCreate(graph, flags); });
}
LOCKSTEP_DRIVER(cuGraphDestroy, (Graph * graph)) {
    return call([&] { return cudaGraphDestroy(graph); });
}
LOCKSTEP_DRIVER(cuGraphClone, (Graph * *clone, Graph* graph)) {
    return call([&] { return cudaGraphClone(clone, graph); });
}
LOCKSTEP_DRIVER(cuGraphNodeFindInClone, (GraphNode * *found, GraphNode* node, Graph* clone)) {
    return call([&] { return cudaGraphNodeFindInClone(found, node, clone); });
}
LOCKSTEP_DRIVER(cuGraphGetNodes, (Graph * graph, GraphNode** nodes, std::size_t* count)) {
    return call([&] { return cudaGraphGetNodes(graph, nodes, count); });
}
LOCKSTEP_DRIVER(cuGraphGetRootNodes, (Graph * graph, GraphNode** nodes, std::size_t* count)) {
    return call([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}
LOCKSTEP_DRIVER(cuGraphNodeGetType, (GraphNode * node, abi::GraphNodeType* type)) {
    return call([&] { return cudaGraphNodeGetType(node, type); });
}
LOCKSTEP_DRIVER(cuGraphDestroyNode, (GraphNode * node)) {
    return call([&] { return cudaGraphDestroyNode(node); });
}
LOCKSTEP_DRIVER(cuGraphDebugDotPrint, (Graph * graph, const char* path, unsigned flags)) {
    return call([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

LOCKSTEP_DRIVER(cuGraphGetEdges,
                (Graph * graph, GraphNode** from, GraphNode** to, std::size_t* count)) {
    return call([&] { return edges_of(graph, from, to, count); });
}
LOCKSTEP_DRIVER(cuGraphAddDependencies,
                (Graph * graph, GraphNode* const* from, GraphNode* const* to, std::size_t count)) {
    return call([&] { return change_edges(graph, from, to, count, true); });
}
LOCKSTEP_DRIVER(cuGraphRemoveDependencies,
                (Graph * graph, GraphNode* const* from, GraphNode* const* to, std::size_t count)) {
    return call([&] { return change_edges(graph, from, to, count, false); });
}
LOCKSTEP_DRIVER(cuGraphNodeGetDependencies,
                (GraphNode * node, GraphNode** nodes, std::size_t* count)) {
    return call([&] { return neighbours(node, nodes, count, false); });
}
LOCKSTEP_DRIVER(cuGraphNodeGetDependentNodes,
                (GraphNode * node, GraphNode** nodes, std::size_t* count)) {
    return call([&] { return neighbours(node, nodes, count, true); });
}

// --- Nodes -------------------------------------------------------------------------------------

#define LOCKSTEP_ADD GraphNode **result, Graph *graph, GraphNode *const *needs, std::size_t count

LOCKSTEP_DRIVER(cuGraphAddKernelNode, (LOCKSTEP_ADD, const KernelNode* p)) {
    return call([&] { return add_node(result, graph, needs, count, make_kernel(p, false)); });
}
LOCKSTEP_DRIVER(cuGraphAddKernelNode_v2, (LOCKSTEP_ADD, const KernelNode* p)) {
    return call([&] { return add_node(result, graph, needs, count, make_kernel(p, true)); });
}
LOCKSTEP_DRIVER(cuGraphAddMemcpyNode, (LOCKSTEP_ADD, const Memcpy3D* p, ContextHandle*)) {
    return call([&] { return add_node(result, graph, needs, count, make_copy(p)); });
}
LOCKSTEP_DRIVER(cuGraphAddMemsetNode, (LOCKSTEP_ADD, const abi::MemsetParams* p, ContextHandle*)) {
    return call([&] { return cudaGraphAddMemsetNode(result, graph, needs, count, p); });
}
LOCKSTEP_DRIVER(cuGraphAddHostNode, (LOCKSTEP_ADD, const abi::HostNodeParams* p)) {
    return call([&] { return cudaGraphAddHostNode(result, graph, needs, count, p); });
}
LOCKSTEP_DRIVER(cuGraphAddEmptyNode, (LOCKSTEP_ADD)) {
    return call([&] { return cudaGraphAddEmptyNode(result, graph, needs, count); });
}
LOCKSTEP_DRIVER(cuGraphAddChildGraphNode, (LOCKSTEP_ADD, Graph* child)) {
    return call([&] { return cudaGraphAddChildGraphNode(result, graph, needs, count, child); });
}
LOCKSTEP_DRIVER(cuGraphAddEventRecordNode, (LOCKSTEP_ADD, Event* event)) {
    return call([&] { return cudaGraphAddEventRecordNode(result, graph, needs, count, event); });
}
LOCKSTEP_DRIVER(cuGraphAddEventWaitNode, (LOCKSTEP_ADD, Event* event)) {
    return call([&] { return cudaGraphAddEventWaitNode(result, graph, needs, count, event); });
}
LOCKSTEP_DRIVER(cuGraphAddMemAllocNode, (LOCKSTEP_ADD, abi::MemAllocNodeParams* p)) {
    return call([&] { return cudaGraphAddMemAllocNode(result, graph, needs, count, p); });
}
LOCKSTEP_DRIVER(cuGraphAddMemFreeNode, (LOCKSTEP_ADD, Pointer pointer)) {
    return call([&] {
        return cudaGraphAddMemFreeNode(result, graph, needs, count, host_pointer(pointer));
    });
}

#undef LOCKSTEP_ADD

LOCKSTEP_DRIVER(cuGraphKernelNodeGetParams, (GraphNode * node, KernelNode* p)) {
    return get_kernel(node, p, false);
}
LOCKSTEP_DRIVER(cuGraphKernelNodeGetParams_v2, (GraphNode * node, KernelNode* p)) {
    return get_kernel(node, p, true);
}
LOCKSTEP_DRIVER(cuGraphKernelNodeSetParams, (GraphNode * node, const KernelNode* p)) {
    return set(node, make_kernel(p, false));
}
LOCKSTEP_DRIVER(cuGraphKernelNodeSetParams_v2, (GraphNode * node, const KernelNode* p)) {
    return set(node, make_kernel(p, true));
}
LOCKSTEP_DRIVER(cuGraphKernelNodeSetAttribute, (GraphNode * node, abi::LaunchAttributeId which,
                                                const abi::LaunchAttributeValue* value)) {
    return call([&] { return cudaGraphKernelNodeSetAttribute(node, which, value); });
}
LOCKSTEP_DRIVER(cuGraphKernelNodeGetAttribute, (GraphNode * node, abi::LaunchAttributeId which,
                                                abi::LaunchAttributeValue* value)) {
    return call([&] { return cudaGraphKernelNodeGetAttribute(node, which, value); });
}
LOCKSTEP_DRIVER(cuGraphKernelNodeCopyAttributes, (GraphNode * to, GraphNode* from)) {
    return call([&] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}
LOCKSTEP_DRIVER(cuGraphMemcpyNodeGetParams, (GraphNode * node, Memcpy3D* p)) {
    return get_copy(node, p);
}
LOCKSTEP_DRIVER(cuGraphMemcpyNodeSetParams, (GraphNode * node, const Memcpy3D* p)) {
    return set(node, make_copy(p));
}
LOCKSTEP_DRIVER(cuGraphMemsetNodeGetParams, (GraphNode * node, abi::MemsetParams* p)) {
    return call([&] { return cudaGraphMemsetNodeGetParams(node, p); });
}
LOCKSTEP_DRIVER(cuGraphMemsetNodeSetParams, (GraphNode * node, const abi::MemsetParams* p)) {
    return call([&] { return cudaGraphMemsetNodeSetParams(node, p); });
}
LOCKSTEP_DRIVER(cuGraphHostNodeGetParams, (GraphNode * node, abi::HostNodeParams* p)) {
    return call([&] { return cudaGraphHostNodeGetParams(node, p); });
}
LOCKSTEP_DRIVER(cuGraphHostNodeSetParams, (GraphNode * node, const abi::HostNodeParams* p)) {
    return call([&] { return cudaGraphHostNodeSetParams(node, p); });
}
LOCKSTEP_DRIVER(cuGraphChildGraphNodeGetGraph, (GraphNode * node, Graph** graph)) {
    return call([&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}
LOCKSTEP_DRIVER(cuGraphEventRecordNodeGetEvent, (GraphNode * node, Event** event)) {
    return call([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}
LOCKSTEP_DRIVER(cuGraphEventRecordNodeSetEvent, (GraphNode * node, Event* event)) {
    return call([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}
LOCKSTEP_DRIVER(cuGraphEventWaitNodeGetEvent, (GraphNode * node, Event** event)) {
    return call([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}
LOCKSTEP_DRIVER(cuGraphEventWaitNodeSetEvent, (GraphNode * node, Event* event)) {
    return call([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}
LOCKSTEP_DRIVER(cuGraphMemAllocNodeGetParams, (GraphNode * node, abi::MemAllocNodeParams* p)) {
    return call([&] { return cudaGraphMemAllocNodeGetParams(node, p); });
}
LOCKSTEP_DRIVER(cuGraphMemFreeNodeGetParams, (GraphNode * node, Pointer* pointer)) {
    return call(
        [&] { return cudaGraphMemFreeNodeGetParams(node, reinterpret_cast<void**>(pointer)); });
}

// --- Executable graphs -------------------------------------------------------------------------

LOCKSTEP_DRIVER(cuGraphInstantiateWithFlags,
                (GraphExec * *exec, Graph* graph, unsigned long long flags)) {
    return call([&] { return instantiate(exec, graph, flags); });
}
LOCKSTEP_DRIVER(cuGraphInstantiate, (GraphExec * *exec, Graph* graph, GraphNode** error_node,
                                     char* log, std::size_t log_bytes)) {
    return call([&] { return instantiate_with_log(exec, graph, error_node, log, log_bytes); });
}
LOCKSTEP_DRIVER(cuGraphInstantiate_v2, (GraphExec * *exec, Graph* graph, GraphNode** error_node,
                                        char* log, std::size_t log_bytes)) {
    return call([&] { return instantiate_with_log(exec, graph, error_node, log, log_bytes); });
}
LOCKSTEP_DRIVER(cuGraphInstantiateWithParams,
                (GraphExec * *exec, Graph* graph, abi::GraphInstantiateParams* p)) {
    return call([&] { return cudaGraphInstantiateWithParams(exec, graph, p); });
}
LOCKSTEP_DRIVER(cuGraphExecGetFlags, (GraphExec * exec, std::uint64_t* flags)) {
    return call(
        [&] { return cudaGraphExecGetFlags(exec, reinterpret_cast<unsigned long long*>(flags)); });
}
LOCKSTEP_DRIVER(cuGraphUpload, (GraphExec * exec, Stream* stream)) {
    return call([&] { return cudaGraphUpload(exec, stream); });
}
LOCKSTEP_DRIVER(cuGraphLaunch, (GraphExec * exec, Stream* stream)) {
    return call([&] { return cudaGraphLaunch(exec, stream); });
}
LOCKSTEP_DRIVER(cuGraphExecDestroy, (GraphExec * exec)) {
    return call([&] { return cudaGraphExecDestroy(exec); });
}
LOCKSTEP_DRIVER(cuGraphExecUpdate_v2,
                (GraphExec * exec, Graph* graph, abi::GraphExecUpdateResultInfo* result)) {
    return call([&] {
        abi::GraphExecUpdateResultInfo info{};
        const Error error = update(exec, graph, info);
        if (result) *result = info;
        return error;
    });
}
LOCKSTEP_DRIVER(cuGraphExecUpdate, (GraphExec * exec, Graph* graph, GraphNode** error_node,
                                    abi::GraphExecUpdateResult* result)) {
    return call([&] {
        abi::GraphExecUpdateResultInfo info{};
        const Error error = update(exec, graph, info);
        if (error_node) *error_node = info.errorNode;
        if (result) *result = info.result;
        return error;
    });
}
LOCKSTEP_DRIVER(cuGraphExecKernelNodeSetParams,
                (GraphExec * exec, GraphNode* node, const KernelNode* p)) {
    return call([&] { return set_in_exec(exec, node, make_kernel(p, false)); });
}
LOCKSTEP_DRIVER(cuGraphExecKernelNodeSetParams_v2,
                (GraphExec * exec, GraphNode* node, const KernelNode* p)) {
    return call([&] { return set_in_exec(exec, node, make_kernel(p, true)); });
}
LOCKSTEP_DRIVER(cuGraphExecMemcpyNodeSetParams,
                (GraphExec * exec, GraphNode* node, const Memcpy3D* p, ContextHandle*)) {
    return call([&] { return set_in_exec(exec, node, make_copy(p)); });
}
LOCKSTEP_DRIVER(cuGraphExecMemsetNodeSetParams,
                (GraphExec * exec, GraphNode* node, const abi::MemsetParams* p, ContextHandle*)) {
    return call([&] { return cudaGraphExecMemsetNodeSetParams(exec, node, p); });
}
LOCKSTEP_DRIVER(cuGraphExecHostNodeSetParams,
                (GraphExec * exec, GraphNode* node, const abi::HostNodeParams* p)) {
    return call([&] { return cudaGraphExecHostNodeSetParams(exec, node, p); });
}
LOCKSTEP_DRIVER(cuGraphExecChildGraphNodeSetParams,
                (GraphExec * exec, GraphNode* node, Graph* child)) {
    return call([&] { return cudaGraphExecChildGraphNodeSetParams(exec, node, child); });
}
LOCKSTEP_DRIVER(cuGraphExecEventRecordNodeSetEvent,
                (GraphExec * exec, GraphNode* node, Event* event)) {
    return call([&] { return cudaGraphExecEventRecordNodeSetEvent(exec, node, event); });
}
LOCKSTEP_DRIVER(cuGraphExecEventWaitNodeSetEvent,
                (GraphExec * exec, GraphNode* node, Event* event)) {
    return call([&] { return cudaGraphExecEventWaitNodeSetEvent(exec, node, event); });
}
LOCKSTEP_DRIVER(cuGraphNodeSetEnabled, (GraphExec * exec, GraphNode* node, unsigned enabled)) {
    return call([&] { return cudaGraphNodeSetEnabled(exec, node, enabled); });
}
LOCKSTEP_DRIVER(cuGraphNodeGetEnabled, (GraphExec * exec, GraphNode* node, unsigned* enabled)) {
    return call([&] { return cudaGraphNodeGetEnabled(exec, node, enabled); });
}

}  // namespace lockstep::cuda::driver
