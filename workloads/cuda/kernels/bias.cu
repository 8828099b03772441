// SPDX-License-Identifier: Apache-2.0
// A bias for each channel of x[outer][channels][inner]: (rows, features, 1) for a linear layer,
// (images, channels, height * width) for a convolution.
#include "block_reduce.cuh"

// Any grid. y may be x.
extern "C" __global__ void bias_add(const float* x, const float* bias, float* y, int outer,
                                    int channels, int inner) {
    const int n = outer * channels * inner;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = x[i] + bias[i / inner % channels];
    }
}

// One block of whole warps for each channel sums dy over outer and inner.
extern "C" __global__ void bias_backward(const float* dy, float* dbias, int outer, int channels,
                                         int inner) {
    __shared__ float scratch[32];
    const int channel = blockIdx.x;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < outer * inner; i += blockDim.x) {
        sum += dy[(i / inner * channels + channel) * inner + i % inner];
    }
    sum = block_reduce(sum, Sum(), scratch);
    if (threadIdx.x == 0) dbias[channel] = sum;
}
