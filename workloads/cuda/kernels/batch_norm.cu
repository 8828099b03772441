// SPDX-License-Identifier: Apache-2.0
// Batch normalisation of x[n][channels][inner] over n and inner (inner = height * width).
#include "block_reduce.cuh"

// Inference, with given statistics. Any grid.
extern "C" __global__ void batch_norm(const float* x, const float* gamma, const float* beta,
                                      const float* mean, const float* variance, float* y, int n,
                                      int channels, int inner, float epsilon) {
    const int total = n * channels * inner;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int c = i / inner % channels;
        y[i] = (x[i] - mean[c]) * rsqrtf(variance[c] + epsilon) * gamma[c] + beta[c];
    }
}

// Training: the batch's own mean and 1 / standard deviation, kept for the backward kernel; the
// running statistics move towards them by `momentum`. One block of whole warps for each channel.
extern "C" __global__ void batch_norm_training(const float* x, const float* gamma,
                                               const float* beta, float* y, float* mean,
                                               float* rstd, float* running_mean,
                                               float* running_variance, int n, int channels,
                                               int inner, float epsilon, float momentum) {
    __shared__ float scratch[32];
    const int c = blockIdx.x, count = n * inner;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        sum += x[(i / inner * channels + c) * inner + i % inner];
    }
    const float mu = block_reduce(sum, Sum(), scratch) / count;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float d = x[(i / inner * channels + c) * inner + i % inner] - mu;
        squares += d * d;
    }
    const float variance = block_reduce(squares, Sum(), scratch) / count;
    const float scale = rsqrtf(variance + epsilon);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int at = (i / inner * channels + c) * inner + i % inner;
        y[at] = (x[at] - mu) * scale * gamma[c] + beta[c];
    }
    if (threadIdx.x == 0) {
        mean[c] = mu;
        rstd[c] = scale;
        running_mean[c] += momentum * (mu - running_mean[c]);
        // The running variance is the unbiased one, as frameworks keep it.
        const float unbiased = count > 1 ? variance * count / (count - 1) : variance;
        running_variance[c] += momentum * (unbiased - running_variance[c]);
    }
}

// One block of whole warps for each channel.
extern "C" __global__ void batch_norm_backward(const float* x, const float* gamma,
                                               const float* mean, const float* rstd,
                                               const float* dy, float* dx, float* dgamma,
                                               float* dbeta, int n, int channels, int inner) {
    __shared__ float scratch[32];
    const int c = blockIdx.x, count = n * inner;
    const float mu = mean[c], scale = rstd[c];
    float sum = 0.0f, dot = 0.0f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int at = (i / inner * channels + c) * inner + i % inner;
        sum += dy[at];
        dot += dy[at] * (x[at] - mu) * scale;
    }
    sum = block_reduce(sum, Sum(), scratch);
    dot = block_reduce(dot, Sum(), scratch);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int at = (i / inner * channels + c) * inner + i % inner;
        const float xhat = (x[at] - mu) * scale;
        dx[at] = gamma[c] * scale * (dy[at] - (sum + xhat * dot) / count);
    }
    if (threadIdx.x == 0) {
        dgamma[c] = dot;
        dbeta[c] = sum;
    }
}
