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
        // The part of the window that lies inside the image.
        const int a0 = max(0, -top), a1 = min(r, h - top);
        const int b0 = max(0, -left), b1 = min(s, w - left);
        float sum = bias != nullptr ? bias[filter] : 0.0f;
        for (int channel = 0; channel < c; ++channel) {
            const float* in = x + ((image * c + channel) * h + top + a0) * w + left;
            const float* tap = weight + ((filter * c + channel) * r + a0) * s;
            for (int a = a0; a < a1; ++a, in += w, tap += s) {
                for (int b = b0; b < b1; ++b) sum += in[b] * tap[b];
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
        for (int oy = max(0, (in_y + pad - r + stride) / stride);
             oy <= min((in_y + pad) / stride, oh - 1); ++oy) {
            for (int ox = max(0, (in_x + pad - s + stride) / stride);
                 ox <= min((in_x + pad) / stride, ow - 1); ++ox) {
                const int a = in_y + pad - oy * stride, b = in_x + pad - ox * stride;
                const float* out = dy + (image * k * oh + oy) * ow + ox;
                const float* tap = weight + (channel * r + a) * s + b;
                for (int filter = 0; filter < k; ++filter) {
                    sum += *out * *tap;
                    out += oh * ow;
                    tap += c * r * s;
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
        // The outputs that this tap reaches from inside the image.
        const int oy0 = max(0, (pad - a + stride - 1) / stride);
        const int ox0 = max(0, (pad - b + stride - 1) / stride);
        const int oy1 = min(oh - 1, (h - 1 + pad - a + stride) / stride - 1);
        const int ox1 = min(ow - 1, (w - 1 + pad - b + stride) / stride - 1);
        for (int image = threadIdx.y; image < n; image += 8) {
            for (int oy = oy0; oy <= oy1; ++oy) {
                const float* out = dy + ((image * k + filter) * oh + oy) * ow;
                const float* in =
                    x + ((image * c + channel) * h + oy * stride + a - pad) * w + b - pad;
                for (int ox = ox0; ox <= ox1; ++ox) sum += out[ox] * in[ox * stride];
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
