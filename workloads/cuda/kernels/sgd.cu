// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum and weight decay, in place. Any grid.

extern "C" __global__ void sgd(const float* gradient, float* weight, float* velocity, int n,
                               float rate, float momentum, float decay) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        velocity[i] = momentum * velocity[i] + gradient[i] + decay * weight[i];
        weight[i] -= rate * velocity[i];
    }
}
