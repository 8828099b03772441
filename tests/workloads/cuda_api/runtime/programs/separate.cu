// SPDX-License-Identifier: Apache-2.0
// Device code of two files, linked by nvlink (-rdc=true); the other is separate_device.cu.
#include "check.h"

extern __device__ int twice(int);
extern __device__ int calls;

__global__ void fill(int* values) {
    values[threadIdx.x] = twice(static_cast<int>(threadIdx.x));
    atomicAdd(&calls, 1);
}

int calls_on_host();

int main() {
    int* values = nullptr;
    OK(cudaMallocManaged(&values, 32 * sizeof(int)));
    fill<<<1, 32>>>(values);
    OK(cudaDeviceSynchronize());
    EXPECT(values[31] == 62);
    EXPECT(calls_on_host() == 32);
    return 0;
}
