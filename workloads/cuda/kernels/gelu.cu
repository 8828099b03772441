// SPDX-License-Identifier: Apache-2.0
// GELU: x * Phi(x), Phi the normal distribution; with erf, or with the tanh approximation of GPT-2
// (Hendrycks and Gimpel, arXiv 1606.08415). Any grid.

extern "C" __global__ void gelu(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
    }
}

extern "C" __global__ void gelu_backward(const float* x, const float* dy, float* dx, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        const float phi = 0.39894228f * expf(-0.5f * v * v);
        dx[i] = dy[i] * (0.5f * (1.0f + erff(v * 0.70710678f)) + v * phi);
    }
}

extern "C" __global__ void gelu_tanh(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    }
}

extern "C" __global__ void gelu_tanh_backward(const float* x, const float* dy, float* dx, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        const float t = tanhf(0.79788456f * (v + 0.044715f * v * v * v));
        const float slope = 0.79788456f * (1.0f + 3.0f * 0.044715f * v * v);
        dx[i] = dy[i] * 0.5f * (1.0f + t + v * (1.0f - t * t) * slope);
    }
}
