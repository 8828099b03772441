// SPDX-License-Identifier: Apache-2.0
// The exported functions that are called from elsewhere too: the driver API does by them what both
// APIs have, and what lies under them where the two differ.
#pragma once

#include <vector>

#include "workloads/cuda_api/runtime/call.h"

namespace lockstep::cuda {

/// All fields; the entry of each CUDA version copies as many as its structure has.
Error function_attributes(abi::FuncAttributes& result, const void* function);
/// The most threads that a CTA of the kernel can have.
int max_block_threads(Context& context, const Kernel& kernel);
/// cudaLaunchKernelExC, and the driver's way to hand over packed parameters.
Error launch_kernel(const abi::LaunchConfig& config, const void* function, void** arguments,
                    void** extra);
Error instantiate(GraphExec** result, Graph* graph, unsigned long long flags);

/// A copy of an image that the caller gives by its address alone: a fatbin, with or without nvcc's
/// wrapper, a cubin or PTX.
std::vector<std::uint8_t> image_of(const void* code);
/// Loads an image and makes handles for its kernels. Throws InputError where none fits the device.
Error load_library(Context& context, Module** library, std::vector<std::uint8_t> image,
                   const std::string& name);

Error pci_bus_id(Context& context, char* text, int bytes, int device);
Error device_of_pci_bus_id(Context& context, int* device, const char* text);
Error can_access_peer(Context& context, int* can, int device, int peer);
/// Of the calling thread's device to a peer's memory.
Error enable_peer_access(Context& context, int peer);
Error disable_peer_access(Context& context, int peer);
Error peer_attribute(Context& context, int* value, int attribute, int device, int peer);

extern "C" {
Error cudaDeviceSynchronize();
Error cudaDeviceSetLimit(abi::Limit, std::size_t);
Error cudaDeviceGetLimit(std::size_t*, abi::Limit);
Error cudaDeviceGetCacheConfig(int*);
Error cudaDeviceSetCacheConfig(int);
Error cudaDeviceGetSharedMemConfig(int*);
Error cudaDeviceSetSharedMemConfig(int);
Error cudaDeviceGetStreamPriorityRange(int*, int*);
Error cudaLibraryUnload(Module*);
Error cudaLibraryGetKernel(Kernel**, Module*, const char*);
Error cudaLibraryGetKernelCount(unsigned*, Module*);
Error cudaLibraryEnumerateKernels(Kernel**, unsigned, Module*);
Error cudaLibraryGetGlobal(void**, std::size_t*, Module*, const char*);
Error cudaLibraryGetManaged(void**, std::size_t*, Module*, const char*);
Error cudaFuncGetName(const char**, const void*);
Error cudaFuncGetParamInfo(const void*, std::size_t, std::size_t*, std::size_t*);
Error cudaFuncSetAttribute(const void*, abi::FuncAttribute, int);
Error cudaFuncSetCacheConfig(const void*, int);
Error cudaFuncSetSharedMemConfig(const void*, int);
Error cudaKernelSetAttributeForDevice(Kernel*, abi::FuncAttribute, int, int);
Error cudaLaunchHostFunc(Stream*, abi::HostFunction, void*);
Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, const void*, int, std::size_t,
                                                             unsigned);
Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t*, const void*, int, int);
Error cudaOccupancyMaxPotentialClusterSize(int*, const void*, const abi::LaunchConfig*);
Error cudaOccupancyMaxActiveClusters(int*, const void*, const abi::LaunchConfig*);
Error cudaMalloc(void**, std::size_t);
Error cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
Error cudaMallocManaged(void**, std::size_t, unsigned);
Error cudaMallocHost(void**, std::size_t);
Error cudaHostAlloc(void**, std::size_t, unsigned);
Error cudaFree(void*);
Error cudaFreeHost(void*);
Error cudaHostRegister(void*, std::size_t, unsigned);
Error cudaHostUnregister(void*);
Error cudaHostGetDevicePointer(void**, void*, unsigned);
Error cudaHostGetFlags(unsigned*, void*);
Error cudaMemGetInfo(std::size_t*, std::size_t*);
Error cudaMallocAsync(void**, std::size_t, Stream*);
Error cudaMallocFromPoolAsync(void**, std::size_t, MemoryPool*, Stream*);
Error cudaFreeAsync(void*, Stream*);
Error cudaMemPoolCreate(MemoryPool**, const abi::MemPoolProps*);
Error cudaMemPoolDestroy(MemoryPool*);
Error cudaMemPoolTrimTo(MemoryPool*, std::size_t);
Error cudaMemPoolSetAttribute(MemoryPool*, abi::MemPoolAttribute, const void*);
Error cudaMemPoolGetAttribute(MemoryPool*, abi::MemPoolAttribute, void*);
Error cudaMemPoolSetAccess(MemoryPool*, const abi::MemAccessDesc*, std::size_t);
Error cudaMemPoolGetAccess(int*, MemoryPool*, abi::MemLocation*);
Error cudaMemAdvise(const void*, std::size_t, int, std::uint64_t);
Error cudaMemPrefetchAsync(const void*, std::size_t, ...);
Error cudaMemRangeGetAttribute(void*, std::size_t, int, const void*, std::size_t);
Error cudaMemRangeGetAttributes(void**, std::size_t*, int*, std::size_t, const void*, std::size_t);
Error cudaStreamAttachMemAsync(Stream*, void*, std::size_t, unsigned);
Error cudaStreamCreateWithFlags(Stream**, unsigned);
Error cudaStreamCreateWithPriority(Stream**, unsigned, int);
Error cudaStreamDestroy(Stream*);
Error cudaStreamSynchronize(Stream*);
Error cudaStreamQuery(Stream*);
Error cudaStreamWaitEvent(Stream*, Event*, unsigned);
Error cudaStreamGetPriority(Stream*, int*);
Error cudaStreamGetFlags(Stream*, unsigned*);
Error cudaStreamGetId(Stream*, unsigned long long*);
Error cudaStreamGetDevice(Stream*, int*);
Error cudaStreamAddCallback(Stream*, abi::StreamCallback, void*, unsigned);
Error cudaStreamSetAttribute(Stream*, abi::LaunchAttributeId, const abi::LaunchAttributeValue*);
Error cudaStreamGetAttribute(Stream*, abi::LaunchAttributeId, abi::LaunchAttributeValue*);
Error cudaStreamCopyAttributes(Stream*, Stream*);
Error cudaStreamBeginCapture(Stream*, abi::CaptureMode);
Error cudaStreamEndCapture(Stream*, Graph**);
Error cudaStreamIsCapturing(Stream*, abi::CaptureStatus*);
Error cudaThreadExchangeStreamCaptureMode(abi::CaptureMode*);
Error cudaEventCreateWithFlags(Event**, unsigned);
Error cudaEventDestroy(Event*);
Error cudaEventRecord(Event*, Stream*);
Error cudaEventRecordWithFlags(Event*, Stream*, unsigned);
Error cudaEventQuery(Event*);
Error cudaEventSynchronize(Event*);
Error cudaEventElapsedTime(float*, Event*, Event*);
Error cudaGraphCreate(Graph**, unsigned);
Error cudaGraphDestroy(Graph*);
Error cudaGraphClone(Graph**, Graph*);
Error cudaGraphNodeFindInClone(GraphNode**, GraphNode*, Graph*);
Error cudaGraphGetNodes(Graph*, GraphNode**, std::size_t*);
Error cudaGraphGetRootNodes(Graph*, GraphNode**, std::size_t*);
Error cudaGraphNodeGetType(GraphNode*, abi::GraphNodeType*);
Error cudaGraphDestroyNode(GraphNode*);
Error cudaGraphDebugDotPrint(Graph*, const char*, unsigned);
Error cudaGraphAddMemsetNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                             const abi::MemsetParams*);
Error cudaGraphAddHostNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                           const abi::HostNodeParams*);
Error cudaGraphAddEmptyNode(GraphNode**, Graph*, GraphNode* const*, std::size_t);
Error cudaGraphAddChildGraphNode(GraphNode**, Graph*, GraphNode* const*, std::size_t, Graph*);
Error cudaGraphAddEventRecordNode(GraphNode**, Graph*, GraphNode* const*, std::size_t, Event*);
Error cudaGraphAddEventWaitNode(GraphNode**, Graph*, GraphNode* const*, std::size_t, Event*);
Error cudaGraphAddMemAllocNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                               abi::MemAllocNodeParams*);
Error cudaGraphAddMemFreeNode(GraphNode**, Graph*, GraphNode* const*, std::size_t, void*);
Error cudaGraphMemsetNodeGetParams(GraphNode*, abi::MemsetParams*);
Error cudaGraphMemsetNodeSetParams(GraphNode*, const abi::MemsetParams*);
Error cudaGraphHostNodeGetParams(GraphNode*, abi::HostNodeParams*);
Error cudaGraphHostNodeSetParams(GraphNode*, const abi::HostNodeParams*);
Error cudaGraphChildGraphNodeGetGraph(GraphNode*, Graph**);
Error cudaGraphEventRecordNodeGetEvent(GraphNode*, Event**);
Error cudaGraphEventRecordNodeSetEvent(GraphNode*, Event*);
Error cudaGraphEventWaitNodeGetEvent(GraphNode*, Event**);
Error cudaGraphEventWaitNodeSetEvent(GraphNode*, Event*);
Error cudaGraphMemAllocNodeGetParams(GraphNode*, abi::MemAllocNodeParams*);
Error cudaGraphMemFreeNodeGetParams(GraphNode*, void**);
Error cudaGraphKernelNodeSetParams(GraphNode*, const abi::KernelNodeParams*);
Error cudaGraphKernelNodeSetAttribute(GraphNode*, abi::LaunchAttributeId,
                                      const abi::LaunchAttributeValue*);
Error cudaGraphKernelNodeGetAttribute(GraphNode*, abi::LaunchAttributeId,
                                      abi::LaunchAttributeValue*);
Error cudaGraphKernelNodeCopyAttributes(GraphNode*, GraphNode*);
Error cudaGraphInstantiateWithParams(GraphExec**, Graph*, abi::GraphInstantiateParams*);
Error cudaGraphExecGetFlags(GraphExec*, unsigned long long*);
Error cudaGraphExecKernelNodeSetParams(GraphExec*, GraphNode*, const abi::KernelNodeParams*);
Error cudaGraphExecMemsetNodeSetParams(GraphExec*, GraphNode*, const abi::MemsetParams*);
Error cudaGraphExecHostNodeSetParams(GraphExec*, GraphNode*, const abi::HostNodeParams*);
Error cudaGraphExecChildGraphNodeSetParams(GraphExec*, GraphNode*, Graph*);
Error cudaGraphExecEventRecordNodeSetEvent(GraphExec*, GraphNode*, Event*);
Error cudaGraphExecEventWaitNodeSetEvent(GraphExec*, GraphNode*, Event*);
Error cudaGraphNodeSetEnabled(GraphExec*, GraphNode*, unsigned);
Error cudaGraphNodeGetEnabled(GraphExec*, GraphNode*, unsigned*);
Error cudaGraphUpload(GraphExec*, Stream*);
Error cudaGraphLaunch(GraphExec*, Stream*);
Error cudaGraphExecDestroy(GraphExec*);
}

}  // namespace lockstep::cuda
