// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sum of n 32-bit integers. scan_blocks: each block of 256 threads scans 256
// elements and writes its total; scan those totals (again with scan_blocks), then scan_add adds to
// each block the total of all blocks before it.

extern "C" __global__ void scan_blocks(const int* x, int* y, int* totals, int n) {
    __shared__ int warp_totals[8];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = i < n ? x[i] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset) sum += below;
    }
    if (lane == 31) warp_totals[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w) sum += warp_totals[w];
    if (i < n) y[i] = sum;
    if (threadIdx.x == 255) totals[blockIdx.x] = sum;
}

extern "C" __global__ void scan_add(const int* scanned_totals, int* y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (blockIdx.x > 0 && i < n) y[i] += scanned_totals[blockIdx.x - 1];
}
