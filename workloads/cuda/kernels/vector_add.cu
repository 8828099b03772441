// SPDX-License-Identifier: Apache-2.0
// c = a + b. Grid: any number of blocks and threads (grid-stride loop).

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        c[i] = a[i] + b[i];
    }
}
