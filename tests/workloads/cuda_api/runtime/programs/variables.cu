// SPDX-License-Identifier: Apache-2.0
// Global, constant and managed variables; streams and events; launch attributes; big parameters.
#include "check.h"

__device__ int counter;
__constant__ int step = 3;
__managed__ int managed = 5;

struct Big {
    int values[900];
};

__global__ void count() {
    atomicAdd(&counter, step);
}
__global__ void add_to_managed(int n) {
    managed += n;
}
__global__ void last_of(Big big, int* result) {
    *result = big.values[899];
}
__global__ void __launch_bounds__(128) limited(int* p) {
    p[threadIdx.x] = static_cast<int>(threadIdx.x);
}

int main() {
    int value = 0;
    count<<<4, 64>>>();
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    EXPECT(value == 4 * 64 * 3);
    const int five = 5, zero = 0;
    OK(cudaMemcpyToSymbol(step, &five, sizeof(five)));
    OK(cudaMemcpyToSymbol(counter, &zero, sizeof(zero)));
    count<<<1, 32>>>();
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
    EXPECT(value == 160);
    std::size_t size = 0;
    OK(cudaGetSymbolSize(&size, counter));
    EXPECT(size == sizeof(int));

    EXPECT(managed == 5);
    add_to_managed<<<1, 1>>>(7);
    OK(cudaDeviceSynchronize());
    EXPECT(managed == 12);

    OK(cudaMemcpyToSymbol(managed, &five, sizeof(five)));
    EXPECT(managed == 5);

    int* result = nullptr;
    OK(cudaMallocManaged(&result, 128 * sizeof(int)));
    Big big{};
    big.values[899] = 42;
    cudaStream_t stream;
    cudaEvent_t start, end;
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(start, stream));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributePriority;
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, last_of, big, result));
    OK(cudaEventRecord(end, stream));
    OK(cudaEventSynchronize(end));
    EXPECT(*result == 42);
    float milliseconds = 0;
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds > 0);

    limited<<<1, 128>>>(result);
    OK(cudaGetLastError());
    limited<<<1, 256>>>(result);
    EXPECT(cudaGetLastError() == cudaErrorLaunchOutOfResources);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, limited));
    EXPECT(attributes.maxThreadsPerBlock == 128 && attributes.numRegs > 0);
    int grid = 0, block = 0;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, count));
    EXPECT(grid > 0 && block == 1024);
    OK(cudaDeviceSynchronize());
    return 0;
}
