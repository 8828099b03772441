// SPDX-License-Identifier: Apache-2.0
// Declarations of the exported functions that tests call, and the device they call them on.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/paths.h"
#include "tests/workloads/cuda_api/state/fake_device.h"
#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/state/graph.h"

namespace lockstep::cuda {

extern "C" {
Error cudaMalloc(void**, std::size_t);
Error cudaMallocHost(void**, std::size_t);
Error cudaMallocManaged(void**, std::size_t, unsigned);
Error cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
Error cudaMallocAsync(void**, std::size_t, Stream*);
Error cudaFree(void*);
Error cudaFreeHost(void*);
Error cudaFreeAsync(void*, Stream*);
Error cudaHostRegister(void*, std::size_t, unsigned);
Error cudaHostUnregister(void*);
Error cudaMemcpy(void*, const void*, std::size_t, abi::MemcpyKind);
Error cudaMemcpyAsync(void*, const void*, std::size_t, abi::MemcpyKind, Stream*);
Error cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                   abi::MemcpyKind);
Error cudaMemcpy3D(const abi::Memcpy3D*);
Error cudaMemset(void*, int, std::size_t);
Error cudaMemsetAsync(void*, int, std::size_t, Stream*);
Error cudaMemset2D(void*, std::size_t, int, std::size_t, std::size_t);
Error cudaMemset3D(abi::PitchedPointer, int, abi::Extent);
Error cudaPointerGetAttributes(abi::PointerAttributes*, const void*);
Error cudaGetLastError();
Error cudaPeekAtLastError();
const char* cudaGetErrorName(Error);
const char* cudaGetErrorString(Error);
Error cudaDeviceSynchronize();
Error cudaDeviceReset();
Error cudaDeviceSetLimit(abi::Limit, std::size_t);
Error cudaSetDevice(int);
Error cudaDeviceGetAttribute(int*, int, int);
Error cudaGetDeviceProperties(void*, int);
Error cudaRuntimeGetVersion(int*);
Error cudaLibraryLoadData(Module**, const void*, void*, void**, unsigned, void*, void**, unsigned);
Error cudaLibraryUnload(Module*);
Error cudaLibraryGetKernel(Kernel**, Module*, const char*);
Error cudaLaunchKernel(const void*, abi::Dim3, abi::Dim3, void**, std::size_t, Stream*);
Error cudaLaunchCooperativeKernel(const void*, abi::Dim3, abi::Dim3, void**, std::size_t, Stream*);
Error cudaLaunchKernelExC(const abi::LaunchConfig*, const void*, void**);
Error cudaLaunchHostFunc(Stream*, abi::HostFunction, void*);
Error cudaFuncGetAttributes(abi::FuncAttributes*, const void*);
Error cudaFuncSetAttribute(const void*, abi::FuncAttribute, int);
Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
Error cudaStreamCreate(Stream**);
Error cudaStreamCreateWithFlags(Stream**, unsigned);
Error cudaStreamDestroy(Stream*);
Error cudaStreamQuery(Stream*);
Error cudaStreamSynchronize(Stream*);
Error cudaStreamWaitEvent(Stream*, Event*, unsigned);
Error cudaStreamBeginCapture(Stream*, abi::CaptureMode);
Error cudaStreamEndCapture(Stream*, Graph**);
Error cudaStreamIsCapturing(Stream*, abi::CaptureStatus*);
Error cudaEventCreate(Event**);
Error cudaEventRecord(Event*, Stream*);
Error cudaEventQuery(Event*);
Error cudaEventSynchronize(Event*);
Error cudaEventElapsedTime(float*, Event*, Event*);
Error cudaGraphCreate(Graph**, unsigned);
Error cudaGraphDestroy(Graph*);
Error cudaGraphGetNodes(Graph*, GraphNode**, std::size_t*);
Error cudaGraphAddKernelNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                             const abi::KernelNodeParams*);
Error cudaGraphAddMemsetNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                             const abi::MemsetParams*);
Error cudaGraphAddHostNode(GraphNode**, Graph*, GraphNode* const*, std::size_t,
                           const abi::HostNodeParams*);
Error cudaGraphInstantiate(GraphExec**, Graph*, unsigned long long);
Error cudaGraphKernelNodeSetParams(GraphNode*, const abi::KernelNodeParams*);
Error cudaGraphKernelNodeSetAttribute(GraphNode*, abi::LaunchAttributeId,
                                      const abi::LaunchAttributeValue*);
Error cudaGraphKernelNodeGetAttribute(GraphNode*, abi::LaunchAttributeId,
                                      abi::LaunchAttributeValue*);
Error cudaGraphKernelNodeCopyAttributes(GraphNode*, GraphNode*);
Error cudaGraphExecKernelNodeSetParams(GraphExec*, GraphNode*, const abi::KernelNodeParams*);
Error cudaGraphLaunch(GraphExec*, Stream*);
Error cudaGraphExecDestroy(GraphExec*);
Error cudaGraphDebugDotPrint(Graph*, const char*, unsigned);
Error cudaDeviceGetGraphMemAttribute(int, int, void*);
Error cudaGraphExecUpdate(GraphExec*, Graph*, abi::GraphExecUpdateResultInfo*);
}

/// Gives each test a fresh fake H200 and the kernel vector_add(a, b, c, n).
class RuntimeTest : public ::testing::Test {
  protected:
    RuntimeTest() {
        Configuration configuration;
        configuration.make_device = [this] {
            auto made = std::make_unique<FakeDevice>(config::Machine::load("h200"));
            device = made.get();
            return made;
        };
        Context::current().configure(std::move(configuration));
        Context::current().device();
    }
    ~RuntimeTest() override {
        if (library != nullptr) cudaLibraryUnload(library);
        Context::current().reset();
        forget_error();
    }

    Kernel* kernel() {
        const std::string path = source_path("workloads/cuda/cubin/sm_90/vector_add.cubin");
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        EXPECT_EQ(
            cudaLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            Error::kSuccess);
        Kernel* result = nullptr;
        EXPECT_EQ(cudaLibraryGetKernel(&result, library, "vector_add"), Error::kSuccess);
        return result;
    }

    FakeDevice* device = nullptr;
    Module* library = nullptr;
};

}  // namespace lockstep::cuda
