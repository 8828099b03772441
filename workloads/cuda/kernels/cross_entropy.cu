// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of logits[rows][cols] with one label a row: loss[row] = logsumexp(row) - row[label].
// One block of whole warps for each row.
#include "block_reduce.cuh"

extern "C" __global__ void cross_entropy(const float* logits, const int* labels, float* loss,
                                         int rows, int cols) {
    __shared__ float scratch[32];
    const float* row = logits + (size_t)blockIdx.x * cols;
    float max = Max::kIdentity;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) max = fmaxf(max, row[i]);
    max = block_reduce(max, Max(), scratch);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(row[i] - max);
    sum = block_reduce(sum, Sum(), scratch);
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + max - row[labels[blockIdx.x]];
}

// dlogits = (softmax(logits) - onehot(label)) * scale; scale = 1 / rows for the mean loss.
extern "C" __global__ void cross_entropy_backward(const float* logits, const int* labels,
                                                  float* dlogits, int rows, int cols,
                                                  float scale) {
    __shared__ float scratch[32];
    const float* row = logits + (size_t)blockIdx.x * cols;
    float max = Max::kIdentity;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) max = fmaxf(max, row[i]);
    max = block_reduce(max, Max(), scratch);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(row[i] - max);
    sum = block_reduce(sum, Sum(), scratch);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float onehot = i == labels[blockIdx.x] ? 1.0f : 0.0f;
        dlogits[(size_t)blockIdx.x * cols + i] = (expf(row[i] - max) / sum - onehot) * scale;
    }
}
