// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: y[n][c][oh][ow] of x[n][c][h][w], each channel with its own filter
// weight[c][r][s]; and its gradients. oh = (h + 2*pad - r) / stride + 1, ow likewise.
#include "block_reduce.cuh"

// One thread for each output; any grid. bias may be null.
extern "C" __global__ void depthwise_conv2d(const float* x, const float* weight, const float* bias,
                                            float* y, int n, int c, int h, int w, int r, int s,
                                            int oh, int ow, int stride, int pad) {
    const int total = n * c * oh * ow;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int ox = i % ow, oy = i / ow % oh, plane = i / (ow * oh), channel = plane % c;
        float sum = bias != nullptr ? bias[channel] : 0.0f;
        for (int a = 0; a < r; ++a) {
            for (int b = 0; b < s; ++b) {
                const int in_y = oy * stride + a - pad, in_x = ox * stride + b - pad;
                if (in_y >= 0 && in_y < h && in_x >= 0 && in_x < w) {
                    sum += x[(plane * h + in_y) * w + in_x] * weight[(channel * r + a) * s + b];
                }
            }
        }
        y[i] = sum;
    }
}

// One thread for each dx; any grid.
extern "C" __global__ void depthwise_conv2d_backward_data(const float* dy, const float* weight,
                                                          float* dx, int n, int c, int h, int w,
                                                          int r, int s, int oh, int ow, int stride,
                                                          int pad) {
    const int total = n * c * h * w;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int in_x = i % w, in_y = i / w % h, plane = i / (w * h), channel = plane % c;
        float sum = 0.0f;
        for (int a = 0; a < r; ++a) {
            const int y = in_y + pad - a;
            if (y < 0 || y % stride != 0 || y / stride >= oh) continue;
            for (int b = 0; b < s; ++b) {
                const int z = in_x + pad - b;
                if (z < 0 || z % stride != 0 || z / stride >= ow) continue;
                sum += dy[(plane * oh + y / stride) * ow + z / stride] *
                       weight[(channel * r + a) * s + b];
            }
        }
        dx[i] = sum;
    }
}

// One block of whole warps for each weight.
extern "C" __global__ void depthwise_conv2d_backward_weights(const float* x, const float* dy,
                                                             float* dweight, int n, int c, int h,
                                                             int w, int r, int s, int oh, int ow,
                                                             int stride, int pad) {
    __shared__ float scratch[32];
    const int b = blockIdx.x % s, a = blockIdx.x / s % r, channel = blockIdx.x / (s * r);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n * oh * ow; i += blockDim.x) {
        const int ox = i % ow, oy = i / ow % oh, plane = i / (ow * oh) * c + channel;
        const int in_y = oy * stride + a - pad, in_x = ox * stride + b - pad;
        if (in_y >= 0 && in_y < h && in_x >= 0 && in_x < w) {
            sum += x[(plane * h + in_y) * w + in_x] * dy[(plane * oh + oy) * ow + ox];
        }
    }
    sum = block_reduce(sum, Sum(), scratch);
    if (threadIdx.x == 0) dweight[blockIdx.x] = sum;
}
