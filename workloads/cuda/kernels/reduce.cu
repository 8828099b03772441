// SPDX-License-Identifier: Apache-2.0
// Sum of n floats three ways. Block: 256 threads; grid: any. The first two write one sum a block:
// launch them again with one block on those. The third adds into out[0], which must be set before.
#include "block_reduce.cuh"

__device__ __forceinline__ float thread_sum(const float* x, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    return sum;
}

// A tree in shared memory: half of the threads drop out at each step.
extern "C" __global__ void reduce_shared(const float* x, float* out, int n) {
    __shared__ float partial[256];
    partial[threadIdx.x] = thread_sum(x, n);
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

// Warp shuffles; shared memory carries one value a warp.
extern "C" __global__ void reduce_shuffle(const float* x, float* out, int n) {
    __shared__ float scratch[32];
    const float sum = block_reduce(thread_sum(x, n), Sum(), scratch);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// One atomic a warp: the order of the additions, and so the last bits, is the machine's.
extern "C" __global__ void reduce_atomic(const float* x, float* out, int n) {
    const float sum = warp_reduce(thread_sum(x, n), Sum());
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
