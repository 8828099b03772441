// SPDX-License-Identifier: Apache-2.0
// counts[b] += number of x[i] == b, for 0 <= b < bins; other values are not counted. Each block
// counts in its own shared memory (dynamic: bins * 4 bytes), then adds to the global counts.

extern "C" __global__ void histogram(const int* x, int* counts, int n, int bins) {
    extern __shared__ int block_counts[];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) block_counts[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (static_cast<unsigned>(x[i]) < static_cast<unsigned>(bins)) {
            atomicAdd(&block_counts[x[i]], 1);
        }
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) {
        if (block_counts[b] != 0) atomicAdd(&counts[b], block_counts[b]);
    }
}
