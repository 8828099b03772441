// SPDX-License-Identifier: Apache-2.0
// Layer normalisation over the rows of x[rows][cols]: y = (x - mean) * rstd * gamma + beta.
// mean[rows] and rstd[rows] are kept for the backward kernels.
#include "block_reduce.cuh"

// One block of whole warps for each row.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta,
                                     float* y, float* mean, float* rstd, int rows, int cols,
                                     float epsilon) {
    __shared__ float scratch[32];
    x += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[i];
    const float mu = block_reduce(sum, Sum(), scratch) / cols;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) squares += (x[i] - mu) * (x[i] - mu);
    const float scale = rsqrtf(block_reduce(squares, Sum(), scratch) / cols + epsilon);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        y[i] = (x[i] - mu) * scale * gamma[i] + beta[i];
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = mu;
        rstd[blockIdx.x] = scale;
    }
}

// dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma. One block for each row.
extern "C" __global__ void layernorm_backward(const float* x, const float* gamma,
                                              const float* mean, const float* rstd,
                                              const float* dy, float* dx, int rows, int cols) {
    __shared__ float scratch[32];
    const size_t row = (size_t)blockIdx.x * cols;
    const float mu = mean[blockIdx.x], scale = rstd[blockIdx.x];
    float sum = 0.0f, dot = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float g = dy[row + i] * gamma[i];
        sum += g;
        dot += g * (x[row + i] - mu) * scale;
    }
    sum = block_reduce(sum, Sum(), scratch) / cols;
    dot = block_reduce(dot, Sum(), scratch) / cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float xhat = (x[row + i] - mu) * scale;
        dx[row + i] = scale * (dy[row + i] * gamma[i] - sum - xhat * dot);
    }
}

// dgamma = sum over rows of dy * xhat, dbeta = sum of dy. One thread for each column.
extern "C" __global__ void layernorm_backward_parameters(const float* x, const float* mean,
                                                         const float* rstd, const float* dy,
                                                         float* dgamma, float* dbeta, int rows,
                                                         int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float gamma_sum = 0.0f, beta_sum = 0.0f;
    for (int row = 0; row < rows; ++row) {
        const size_t i = (size_t)row * cols + col;
        gamma_sum += dy[i] * (x[i] - mean[row]) * rstd[row];
        beta_sum += dy[i];
    }
    dgamma[col] = gamma_sum;
    dbeta[col] = beta_sum;
}
