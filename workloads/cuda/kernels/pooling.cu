// SPDX-License-Identifier: Apache-2.0
// Pooling of planes x[planes][h][w] (planes = images * channels) to y[planes][oh][ow] over windows
// of r x s, and its gradients. oh = (h + 2*pad - r) / stride + 1, ow likewise; pad < r, s. One
// thread for each output (backward: for each input); any grid.

// index[i]: where in its plane the maximum was (the first, if several).
extern "C" __global__ void max_pool2d(const float* x, float* y, int* index, int planes, int h,
                                      int w, int r, int s, int oh, int ow, int stride, int pad) {
    const int total = planes * oh * ow;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int top = i / ow % oh * stride - pad, left = i % ow * stride - pad;
        const float* plane = x + i / (ow * oh) * h * w;
        float best = -3.402823466e38f;
        int where = max(top, 0) * w + max(left, 0);
        for (int in_y = max(top, 0); in_y < min(top + r, h); ++in_y) {
            for (int in_x = max(left, 0); in_x < min(left + s, w); ++in_x) {
                if (plane[in_y * w + in_x] > best) {
                    where = in_y * w + in_x;
                    best = plane[where];
                }
            }
        }
        y[i] = best;
        index[i] = where;
    }
}

// Each input asks the windows that cover it whether it was their maximum: no atomics.
extern "C" __global__ void max_pool2d_backward(const float* dy, const int* index, float* dx,
                                               int planes, int h, int w, int r, int s, int oh,
                                               int ow, int stride, int pad) {
    const int total = planes * h * w;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int in_x = i % w, in_y = i / w % h, plane = i / (w * h);
        float sum = 0.0f;
        for (int oy = max(0, (in_y + pad - r + stride) / stride);
             oy <= min((in_y + pad) / stride, oh - 1); ++oy) {
            for (int ox = max(0, (in_x + pad - s + stride) / stride);
                 ox <= min((in_x + pad) / stride, ow - 1); ++ox) {
                const int out = (plane * oh + oy) * ow + ox;
                if (index[out] == in_y * w + in_x) sum += dy[out];
            }
        }
        dx[i] = sum;
    }
}

// The mean over the part of the window that lies inside the plane.
extern "C" __global__ void average_pool2d(const float* x, float* y, int planes, int h, int w,
                                          int r, int s, int oh, int ow, int stride, int pad) {
    const int total = planes * oh * ow;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int top = i / ow % oh * stride - pad, left = i % ow * stride - pad;
        const int y0 = max(top, 0), y1 = min(top + r, h), x0 = max(left, 0), x1 = min(left + s, w);
        const float* plane = x + i / (ow * oh) * h * w;
        float sum = 0.0f;
        for (int in_y = y0; in_y < y1; ++in_y) {
            for (int in_x = x0; in_x < x1; ++in_x) sum += plane[in_y * w + in_x];
        }
        y[i] = sum / ((y1 - y0) * (x1 - x0));
    }
}

extern "C" __global__ void average_pool2d_backward(const float* dy, float* dx, int planes, int h,
                                                   int w, int r, int s, int oh, int ow, int stride,
                                                   int pad) {
    const int total = planes * h * w;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int in_x = i % w, in_y = i / w % h, plane = i / (w * h);
        float sum = 0.0f;
        for (int oy = max(0, (in_y + pad - r + stride) / stride);
             oy <= min((in_y + pad) / stride, oh - 1); ++oy) {
            for (int ox = max(0, (in_x + pad - s + stride) / stride);
                 ox <= min((in_x + pad) / stride, ow - 1); ++ox) {
                const int top = oy * stride - pad, left = ox * stride - pad;
                const int rows = min(top + r, h) - max(top, 0);
                const int cols = min(left + s, w) - max(left, 0);
                sum += dy[(plane * oh + oy) * ow + ox] / (rows * cols);
            }
        }
        dx[i] = sum;
    }
}
