// SPDX-License-Identifier: Apache-2.0
// y = max(x, 0) and its gradient. Any grid.

extern "C" __global__ void relu(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = x[i] > 0.0f ? x[i] : 0.0f;
    }
}

// dx = dy where y > 0 (the output is enough: x > 0 exactly where y > 0).
extern "C" __global__ void relu_backward(const float* y, const float* dy, float* dx, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        dx[i] = y[i] > 0.0f ? dy[i] : 0.0f;
    }
}
