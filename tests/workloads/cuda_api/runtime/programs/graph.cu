// SPDX-License-Identifier: Apache-2.0
// A captured graph with a fork and a join, and one made by hand whose kernel's arguments change.
#include "check.h"

__global__ void add(int* values, int n) {
    values[threadIdx.x] += n;
}

int main() {
    int* values = nullptr;
    OK(cudaMalloc(&values, 32 * sizeof(int)));
    cudaStream_t origin, other;
    cudaEvent_t fork, join;
    OK(cudaStreamCreate(&origin));
    OK(cudaStreamCreate(&other));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    int host[32] = {};
    OK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(values, 0, sizeof(host), origin));
    OK(cudaEventRecord(fork, origin));
    OK(cudaStreamWaitEvent(other, fork, 0));
    add<<<1, 32, 0, other>>>(values, 1);
    OK(cudaEventRecord(join, other));
    OK(cudaStreamWaitEvent(origin, join, 0));
    add<<<1, 32, 0, origin>>>(values, 10);
    OK(cudaMemcpyAsync(host, values, sizeof(host), cudaMemcpyDeviceToHost, origin));
    cudaGraph_t graph;
    OK(cudaStreamEndCapture(origin, &graph));
    EXPECT(host[0] == 0);
    std::size_t count = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 4);
    cudaGraphNode_t nodes[4];
    OK(cudaGraphGetNodes(graph, nodes, &count));
    int kernels = 0;
    for (cudaGraphNode_t each : nodes) {
        cudaGraphNodeType type;
        OK(cudaGraphNodeGetType(each, &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        cudaKernelNodeParams of_captured;
        OK(cudaGraphKernelNodeGetParams(each, &of_captured));
        kernels += of_captured.func == reinterpret_cast<void*>(add);
    }
    EXPECT(kernels == 2);
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(exec, origin));
    OK(cudaStreamSynchronize(origin));
    EXPECT(host[31] == 11);

    cudaGraph_t made;
    OK(cudaGraphCreate(&made, 0));
    int n = 5;
    void* arguments[] = {&values, &n};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    OK(cudaGraphAddKernelNode(&node, made, nullptr, 0, &params));
    cudaGraphExec_t made_exec;
    OK(cudaGraphInstantiate(&made_exec, made, 0));
    OK(cudaGraphLaunch(made_exec, origin));
    n = 100;
    OK(cudaGraphExecKernelNodeSetParams(made_exec, node, &params));
    OK(cudaGraphLaunch(made_exec, origin));
    OK(cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 11 + 5 + 100);
    return 0;
}
