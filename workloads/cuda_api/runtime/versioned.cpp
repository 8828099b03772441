// SPDX-License-Identifier: Apache-2.0
// The functions whose interface differs between the major versions of CUDA. This file is compiled
// once for each: LOCKSTEP_CUDART is 11, 12 or 13. CUDA 12 has the new forms under names with _v2 or
// _v3, which CUDA 13 gave the plain names.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/runtime/functions.h"
#include "workloads/cuda_api/runtime/graph_nodes.h"

namespace lockstep::cuda {

namespace {

constexpr int kVersion = LOCKSTEP_CUDART == 11 ? 11080 : LOCKSTEP_CUDART == 12 ? 12090 : 13000;

Error store_version(int* version) {
    return call([&](Context&) {
        return version ? (*version = kVersion, Error::kSuccess) : Error::kInvalidValue;
    });
}

template <typename Properties>
Error device_properties(void* result, int device, std::size_t bytes) {
    return call([&](Context& context) {
        if (!result) return Error::kInvalidValue;
        if (!context.has_device(device)) return Error::kInvalidDevice;
        Properties properties;
        context.properties().fill(properties);
        properties.pciBusID = device;
        std::memcpy(result, &properties, bytes);
        return Error::kSuccess;
    });
}

Error capture_info(Stream* handle, abi::CaptureStatus* status, unsigned long long* id,
                   Graph** graph, GraphNode* const** dependencies, std::size_t* count) {
    return call([&](Context& context) {
        Stream* stream = context.streams.find(handle);
        if (!stream) return Error::kInvalidResourceHandle;
        if (!status) return Error::kInvalidValue;
        *status = stream->capturing() ? stream->capture->status : abi::kCaptureNone;
        if (*status != abi::kCaptureActive) return Error::kSuccess;
        if (id) *id = stream->capture->id;
        if (graph) *graph = context.graphs.keep(stream->capture->graph);
        if (dependencies) *dependencies = stream->last.data();
        if (count) *count = stream->last.size();
        return Error::kSuccess;
    });
}

Error update_capture(Stream* handle, GraphNode* const* nodes, std::size_t count, unsigned flags) {
    return call([&](Context& context) {
        constexpr unsigned kSet = 1;
        Stream* stream = context.streams.find(handle);
        if (!stream) return Error::kInvalidResourceHandle;
        if (!stream->capturing()) return Error::kIllegalState;
        if (flags > kSet || (count != 0 && !nodes)) return Error::kInvalidValue;
        if (flags == kSet) stream->last.clear();
        stream->last.insert(stream->last.end(), nodes, nodes + count);
        return Error::kSuccess;
    });
}

/// Functions of the driver API: libcuda.so.1 lies beside this library.
Error driver_entry(const char* symbol, void** function, int version, unsigned long long flags,
                   int* status) {
    using Find = int (*)(const char*, void**, int, unsigned long long, int*);
    static const auto find = [] {
        void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
        return driver ? reinterpret_cast<Find>(dlsym(driver, "cuGetProcAddress_v2")) : nullptr;
    }();
    return call([&](Context&) {
        if (!symbol || !function) return Error::kInvalidValue;
        constexpr int kSymbolNotFound = 1;
        int found = kSymbolNotFound;
        *function = nullptr;
        if (find) find(symbol, function, version, flags, &found);
        if (!*function)
            std::fprintf(stderr, "lockstep: the CUDA driver of version %d has no function %s\n",
                         version, symbol);
        if (status) *status = found;
        return *function || status ? Error::kSuccess : Error::kSymbolNotFound;
    });
}

}  // namespace

LOCKSTEP_CUDA Error cudaRuntimeGetVersion(int* version) {
    return store_version(version);
}
LOCKSTEP_CUDA Error cudaDriverGetVersion(int* version) {
    return store_version(version);
}

LOCKSTEP_CUDA Error cudaPointerGetAttributes(abi::PointerAttributes* result, const void* pointer) {
    constexpr std::size_t kBytes = LOCKSTEP_CUDART >= 13
                                       ? sizeof(abi::PointerAttributes)
                                       : offsetof(abi::PointerAttributes, reserved);
    return call([&](Context& context) {
        if (!result) return Error::kInvalidValue;
        const abi::PointerAttributes attributes = context.memory.attributes(pointer);
        std::memcpy(result, &attributes, kBytes);
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaFuncGetAttributes(abi::FuncAttributes* result, const void* function) {
    constexpr std::size_t kBytes = LOCKSTEP_CUDART == 11
                                       ? offsetof(abi::FuncAttributes, clusterDimMustBeSet)
                                       : sizeof(abi::FuncAttributes);
    if (!result) return call([](Context&) { return Error::kInvalidValue; });
    abi::FuncAttributes attributes;
    const Error error = function_attributes(attributes, function);
    if (error == Error::kSuccess) std::memcpy(result, &attributes, kBytes);
    return error;
}

LOCKSTEP_CUDA Error cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                     unsigned version, unsigned long long flags,
                                                     int* status) {
    return driver_entry(symbol, function, static_cast<int>(version), flags, status);
}

#if LOCKSTEP_CUDART == 13
LOCKSTEP_CUDA Error cudaGetDeviceProperties(void* result, int device) {
    return device_properties<abi::DeviceProp13>(result, device, sizeof(abi::DeviceProp13));
}
#else
LOCKSTEP_CUDA Error cudaGetDeviceProperties(void* result, int device) {
    return device_properties<abi::DeviceProp12>(result, device, abi::kDeviceProp11Bytes);
}
#endif
#if LOCKSTEP_CUDART == 12
LOCKSTEP_CUDA Error cudaGetDeviceProperties_v2(void* result, int device) {
    return device_properties<abi::DeviceProp12>(result, device, sizeof(abi::DeviceProp12));
}
#endif

#if LOCKSTEP_CUDART == 11
LOCKSTEP_CUDA Error cudaGetDriverEntryPoint(const char* symbol, void** function,
                                            unsigned long long flags) {
    return driver_entry(symbol, function, kVersion, flags, nullptr);
}
LOCKSTEP_CUDA Error cudaGraphInstantiate(GraphExec** exec, Graph* graph, GraphNode** error_node,
                                         char*, std::size_t) {
    if (error_node) *error_node = nullptr;
    return instantiate(exec, graph, 0);
}
LOCKSTEP_CUDA Error cudaGraphExecUpdate(GraphExec* exec, Graph* graph, GraphNode** error_node,
                                        int* result) {
    abi::GraphExecUpdateResultInfo info{};
    const Error error = update(exec, graph, info);
    if (error_node) *error_node = info.errorNode;
    if (result) *result = info.result;
    return error;
}
#else
LOCKSTEP_CUDA Error cudaGetDriverEntryPoint(const char* symbol, void** function,
                                            unsigned long long flags, int* status) {
    return driver_entry(symbol, function, kVersion, flags, status);
}
LOCKSTEP_CUDA Error cudaGraphInstantiate(GraphExec** exec, Graph* graph, unsigned long long flags) {
    return instantiate(exec, graph, flags);
}
LOCKSTEP_CUDA Error cudaGraphExecUpdate(GraphExec* exec, Graph* graph,
                                        abi::GraphExecUpdateResultInfo* result) {
    abi::GraphExecUpdateResultInfo info{};
    const Error error = update(exec, graph, info);
    if (result) *result = info;
    return error;
}
#endif

// With edge data: programmatic dependencies say how much two kernels may overlap.
#if LOCKSTEP_CUDART == 13
#define LOCKSTEP_V2(name) name
#define LOCKSTEP_V3(name) name
#else
#define LOCKSTEP_V2(name) name##_v2
#define LOCKSTEP_V3(name) name##_v3
#endif

#if LOCKSTEP_CUDART >= 12
LOCKSTEP_CUDA Error LOCKSTEP_V3(cudaStreamGetCaptureInfo)(
    Stream* stream, abi::CaptureStatus* status, unsigned long long* id, Graph** graph,
    GraphNode* const** dependencies, const abi::GraphEdgeData** data, std::size_t* count) {
    if (data) *data = nullptr;
    return capture_info(stream, status, id, graph, dependencies, count);
}
LOCKSTEP_CUDA Error LOCKSTEP_V2(cudaStreamUpdateCaptureDependencies)(Stream* stream,
                                                                     GraphNode* const* nodes,
                                                                     const abi::GraphEdgeData*,
                                                                     std::size_t count,
                                                                     unsigned flags) {
    return update_capture(stream, nodes, count, flags);
}
LOCKSTEP_CUDA Error LOCKSTEP_V2(cudaGraphAddDependencies)(Graph* graph, GraphNode* const* from,
                                                          GraphNode* const* to,
                                                          const abi::GraphEdgeData*,
                                                          std::size_t count) {
    return change_edges(graph, from, to, count, true);
}
LOCKSTEP_CUDA Error LOCKSTEP_V2(cudaGraphRemoveDependencies)(Graph* graph, GraphNode* const* from,
                                                             GraphNode* const* to,
                                                             const abi::GraphEdgeData*,
                                                             std::size_t count) {
    return change_edges(graph, from, to, count, false);
}
LOCKSTEP_CUDA Error LOCKSTEP_V2(cudaGraphGetEdges)(Graph* graph, GraphNode** from, GraphNode** to,
                                                   abi::GraphEdgeData* data, std::size_t* count) {
    const Error error = edges_of(graph, from, to, count);
    if (data && error == Error::kSuccess) std::memset(data, 0, *count * sizeof(*data));
    return error;
}
LOCKSTEP_CUDA Error LOCKSTEP_V2(cudaGraphNodeGetDependencies)(GraphNode* node, GraphNode** nodes,
                                                              abi::GraphEdgeData* data,
                                                              std::size_t* count) {
    const Error error = neighbours(node, nodes, count, false);
    if (data && error == Error::kSuccess) std::memset(data, 0, *count * sizeof(*data));
    return error;
}
LOCKSTEP_CUDA Error LOCKSTEP_V2(cudaGraphNodeGetDependentNodes)(GraphNode* node, GraphNode** nodes,
                                                                abi::GraphEdgeData* data,
                                                                std::size_t* count) {
    const Error error = neighbours(node, nodes, count, true);
    if (data && error == Error::kSuccess) std::memset(data, 0, *count * sizeof(*data));
    return error;
}
LOCKSTEP_CUDA Error LOCKSTEP_V2(cudaGraphAddNode)(GraphNode** result, Graph* graph,
                                                  GraphNode* const* needs,
                                                  const abi::GraphEdgeData*, std::size_t count,
                                                  abi::GraphNodeParams* p) {
    return add_node(result, graph, needs, count,
                    [&](Context& r, Operation& o) { return node_operation(r, p, o); });
}
#endif

#if LOCKSTEP_CUDART <= 12
LOCKSTEP_CUDA Error cudaStreamGetCaptureInfo(Stream* stream, abi::CaptureStatus* status,
                                             unsigned long long* id) {
    return capture_info(stream, status, id, nullptr, nullptr, nullptr);
}
LOCKSTEP_CUDA Error cudaStreamGetCaptureInfo_v2(Stream* stream, abi::CaptureStatus* status,
                                                unsigned long long* id, Graph** graph,
                                                GraphNode* const** dependencies,
                                                std::size_t* count) {
    return capture_info(stream, status, id, graph, dependencies, count);
}
LOCKSTEP_CUDA Error cudaStreamUpdateCaptureDependencies(Stream* stream, GraphNode* const* nodes,
                                                        std::size_t count, unsigned flags) {
    return update_capture(stream, nodes, count, flags);
}
LOCKSTEP_CUDA Error cudaGraphAddDependencies(Graph* graph, GraphNode* const* from,
                                             GraphNode* const* to, std::size_t count) {
    return change_edges(graph, from, to, count, true);
}
LOCKSTEP_CUDA Error cudaGraphRemoveDependencies(Graph* graph, GraphNode* const* from,
                                                GraphNode* const* to, std::size_t count) {
    return change_edges(graph, from, to, count, false);
}
LOCKSTEP_CUDA Error cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to,
                                      std::size_t* count) {
    return edges_of(graph, from, to, count);
}
LOCKSTEP_CUDA Error cudaGraphNodeGetDependencies(GraphNode* node, GraphNode** nodes,
                                                 std::size_t* count) {
    return neighbours(node, nodes, count, false);
}
LOCKSTEP_CUDA Error cudaGraphNodeGetDependentNodes(GraphNode* node, GraphNode** nodes,
                                                   std::size_t* count) {
    return neighbours(node, nodes, count, true);
}
#endif
#if LOCKSTEP_CUDART == 12
LOCKSTEP_CUDA Error cudaGraphAddNode(GraphNode** result, Graph* graph, GraphNode* const* needs,
                                     std::size_t count, abi::GraphNodeParams* p) {
    return add_node(result, graph, needs, count,
                    [&](Context& r, Operation& o) { return node_operation(r, p, o); });
}
#endif

}  // namespace lockstep::cuda
