// SPDX-License-Identifier: Apache-2.0
// Softmax over the rows of x[rows][cols], and its gradient. One block of whole warps for each row.
#include "block_reduce.cuh"

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
    __shared__ float scratch[32];
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    float max = Max::kIdentity;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) max = fmaxf(max, x[i]);
    max = block_reduce(max, Max(), scratch);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(x[i] - max);
    sum = block_reduce(sum, Sum(), scratch);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] = expf(x[i] - max) / sum;
}

// dx = y * (dy - sum(y * dy))
extern "C" __global__ void softmax_backward(const float* y, const float* dy, float* dx, int rows,
                                            int cols) {
    __shared__ float scratch[32];
    const size_t row = (size_t)blockIdx.x * cols;
    float dot = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) dot += y[row + i] * dy[row + i];
    dot = block_reduce(dot, Sum(), scratch);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        dx[row + i] = y[row + i] * (dy[row + i] - dot);
    }
}
