// SPDX-License-Identifier: Apache-2.0
// AdamW (Loshchilov and Hutter, arXiv 1711.05101), in place. correction1 = 1 - beta1^step and
// correction2 = 1 - beta2^step are the host's. Any grid.

extern "C" __global__ void adamw(const float* gradient, float* weight, float* m, float* v, int n,
                                 float rate, float beta1, float beta2, float epsilon, float decay,
                                 float correction1, float correction2) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float g = gradient[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * g * g;
        const float step = (m[i] / correction1) / (sqrtf(v[i] / correction2) + epsilon);
        weight[i] -= rate * (step + decay * weight[i]);
    }
}
