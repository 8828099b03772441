// SPDX-License-Identifier: Apache-2.0
// Programs with a race that chips forgive, because all warps of a CTA make progress at about the
// same pace. Built by: nvcc -cubin -arch=sm_XX forgiven_races.cu -o forgiven_races_sm_XX.cubin

__device__ float sum_of_warp(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(~0u, x, offset);
    return x;
}

// A block reduction in a loop, with no barrier between reading the partial sums and overwriting
// them in the next round.
extern "C" __global__ void reduce_in_loop(const float* in, float* out, int rounds) {
    __shared__ float partial[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) partial[lane] = 0;
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        const float sum = sum_of_warp(in[r * blockDim.x + threadIdx.x]);
        if (lane == 0) partial[warp] = sum;
        __syncthreads();
        const float all = sum_of_warp(partial[lane]);
        if (lane == 0) out[r * (blockDim.x / 32) + warp] = all;
    }
}

// The same without global memory in the loop: only arithmetic keeps the warps apart.
extern "C" __global__ void reduce_registers(float* out, int rounds) {
    __shared__ float partial[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) partial[lane] = 0;
    __syncthreads();
    float x = static_cast<float>(threadIdx.x);
    for (int r = 0; r < rounds; ++r) {
        const float sum = sum_of_warp(x);
        if (lane == 0) partial[warp] = sum;
        __syncthreads();
        const float all = sum_of_warp(partial[lane]);
        x = 0.5f * x + 0.001f * all;
    }
    out[threadIdx.x] = x;
}

// The gradient of an autoregressive softmax, several rows a CTA: rows differ in length, so that
// warps of a row do different amounts of work between the reduction and the next row's.
extern "C" __global__ void softmax_gradient(float* dx, const float* dy, const float* y, int rows,
                                            int rows_per_cta) {
    __shared__ float partial[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int last = rows - 1 - rows_per_cta * static_cast<int>(blockIdx.x);
    if (warp == 0) partial[lane] = 0;
    for (int i = 0; i < rows_per_cta; ++i) {
        const int row = last - i;
        if (row < 0) return;
        float sum = 0;
        for (int c = threadIdx.x; c <= row; c += blockDim.x) sum += y[row * rows + c] * dy[row * rows + c];
        sum = sum_of_warp(sum);
        if (lane == 0) partial[warp] = sum;
        __syncthreads();
        sum = sum_of_warp(partial[lane]);
        for (int c = threadIdx.x; c <= row; c += blockDim.x)
            dx[row * rows + c] = 0.25f * y[row * rows + c] * (dy[row * rows + c] - sum);
    }
}

// A matrix times a vector where the rows of the block repeat the work of the first: each adds to
// the element that all of them have read.
extern "C" __global__ void repeated_product(const float* a, const float* y, float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < n; ++j) x[i] += a[i * n + j] * y[j];
}

// One warp clears a counter that the others add to after a load, with no barrier in between.
extern "C" __global__ void late_clear(const int* in, int* out) {
    __shared__ int counter;
    for (int r = 0; r < 4; ++r) {
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) counter = 0;
        atomicAdd(&counter, in[(blockDim.x - 1 - threadIdx.x) + r * blockDim.x]);
        __syncthreads();
        if (threadIdx.x == 0) out[r] = counter;
    }
}
