// SPDX-License-Identifier: Apache-2.0
// Convolution y[n][k][oh][ow] of x[n][c][h][w] with weight[k][c][r][s], and its gradients, without
// any intermediate. oh = (h + 2*pad - r) / stride + 1, ow likewise. The gradient of the bias is
// bias_backward's.

// One thread for each output; any grid. bias may be null.
extern "C" __global__ void conv2d(const float* x, const float* weight, const float* bias, float* y,
                                  int n, int c, int h, int w, int k, int r, int s, int oh, int ow,
                                  int stride, int pad) {
    const int total = n * k * oh * ow;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int ox = i % ow, oy = i / ow % oh, filter = i / (ow * oh) % k;
        const int image = i / (ow * oh * k);
        const int top = oy * stride - pad, left = ox * stride - pad;
        const float* tap = weight + filter * c * r * s;
        float sum = bias != nullptr ? bias[filter] : 0.0f;
        for (int channel = 0; channel < c; ++channel) {
            const float* plane = x + (image * c + channel) * h * w;
            for (int a = 0; a < r; ++a) {
                for (int b = 0; b < s; ++b, ++tap) {
                    const int in_y = top + a, in_x = left + b;
                    if (in_y >= 0 && in_y < h && in_x >= 0 && in_x < w) {
                        sum += plane[in_y * w + in_x] * *tap;
                    }
                }
            }
        }
        y[i] = sum;
    }
}

// One thread for each dx; any grid. An input is seen by the outputs whose window covers it.
extern "C" __global__ void conv2d_backward_data(const float* dy, const float* weight, float* dx,
                                                int n, int c, int h, int w, int k, int r, int s,
                                                int oh, int ow, int stride, int pad) {
    const int total = n * c * h * w;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int in_x = i % w, in_y = i / w % h, channel = i / (w * h) % c;
        const int image = i / (w * h * c);
        float sum = 0.0f;
        for (int a = 0; a < r; ++a) {
            const int y = in_y + pad - a;
            if (y < 0 || y % stride != 0 || y / stride >= oh) continue;
            for (int b = 0; b < s; ++b) {
                const int z = in_x + pad - b;
                if (z < 0 || z % stride != 0 || z / stride >= ow) continue;
                const float* out = dy + (image * k * oh + y / stride) * ow + z / stride;
                const float* tap = weight + (channel * r + a) * s + b;
                for (int filter = 0; filter < k; ++filter) {
                    sum += out[filter * oh * ow] * tap[filter * c * r * s];
                }
            }
        }
        dx[i] = sum;
    }
}

// Block: 32x8, 32 weights by 8 slices of the images; grid: ceil(k*c*r*s / 32). The slices are
// added in a fixed order, so that the result does not depend on scheduling, as atomics would.
extern "C" __global__ void conv2d_backward_weights(const float* x, const float* dy, float* dweight,
                                                   int n, int c, int h, int w, int k, int r, int s,
                                                   int oh, int ow, int stride, int pad) {
    __shared__ float partial[8][32];
    const int i = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (i < k * c * r * s) {
        const int b = i % s, a = i / s % r, channel = i / (s * r) % c, filter = i / (s * r * c);
        for (int image = threadIdx.y; image < n; image += 8) {
            const float* out = dy + (image * k + filter) * oh * ow;
            const float* plane = x + (image * c + channel) * h * w;
            for (int oy = 0; oy < oh; ++oy, out += ow) {
                const int in_y = oy * stride + a - pad;
                if (in_y < 0 || in_y >= h) continue;
                const float* row = plane + in_y * w;
                for (int ox = 0; ox < ow; ++ox) {
                    const int in_x = ox * stride + b - pad;
                    if (in_x >= 0 && in_x < w) sum += out[ox] * row[in_x];
                }
            }
        }
    }
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && i < k * c * r * s) {
        for (int slice = 1; slice < 8; ++slice) sum += partial[slice][threadIdx.x];
        dweight[i] = sum;
    }
}
