// SPDX-License-Identifier: Apache-2.0
// What makes programs slow on a model although they do little arithmetic: see
// access_patterns_benchmark.cpp. Built by
//     nvcc -arch=sm_90 -cubin -o access_patterns_sm_90.cubin access_patterns.cu

// Products without tiles, the sum in memory: three arrays in a loop.
extern "C" __global__ void untiled_product(int n, const float* a, const float* b, float* sum) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    for (int k = 0; k < n; ++k) sum[row * n + column] += a[row * n + k] * b[k * n + column];
}

// One step of elimination: small CTAs whose lanes go down columns.
extern "C" __global__ void eliminate(int n, int step, const float* factors, float* a) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x + step + 1;
    const int column = blockIdx.y * blockDim.y + threadIdx.y + step;
    if (row < n && column < n) a[row * n + column] -= factors[row] * a[step * n + column];
}

// One row of an alternating-direction sweep: a launch of little work.
extern "C" __global__ void sweep_row(int n, int row, const float* a, float* b, float* x) {
    const int i = row * n + blockIdx.x * blockDim.x + threadIdx.x, before = i - n;
    x[i] -= x[before] * a[i] / b[before];
    b[i] -= a[i] * a[i] / b[before];
}

// Columns made orthogonal to one: strided reductions, one thread a column.
extern "C" __global__ void orthogonalise(int n, int step, const float* q, float* a) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column <= step) return;
    float dot = 0;
    for (int i = 0; i < n; ++i) dot += q[i * n + step] * a[i * n + column];
    for (int i = 0; i < n; ++i) a[i * n + column] -= q[i * n + step] * dot;
}

// Dynamic programming along the diagonals of a tile: one warp, barriers, shared memory.
extern "C" __global__ void diagonal_tiles(int columns, const int* scores, int* table) {
    constexpr int kTile = 16;
    __shared__ int best[kTile + 1][kTile + 1];
    const int t = threadIdx.x;
    const int origin = (blockIdx.y * columns + blockIdx.x) * kTile;
    best[0][t + 1] = table[origin + t + 1];
    best[t + 1][0] = table[origin + columns * (t + 1)];
    if (t == 0) best[0][0] = table[origin];
    __syncthreads();
    for (int step = 0; step < 2 * kTile - 1; ++step) {
        const int x = t + 1, y = step - t + 1;
        if (y >= 1 && y <= kTile) {
            const int diagonal = best[y - 1][x - 1] + scores[origin + columns * y + x];
            best[y][x] = max(diagonal, max(best[y][x - 1], best[y - 1][x]) - 10);
        }
        __syncthreads();
    }
    for (int y = 1; y <= kTile; ++y) table[origin + columns * y + t + 1] = best[y][t + 1];
}

// A sum of two arrays: nothing but memory.
extern "C" __global__ void add(const float* a, const float* b, float* c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

// Chains of fused multiply-adds that stay near `a`, which may be subnormal.
template <typename T>
__device__ void decay(int steps, T* a) {
    T* const own = a + blockIdx.x * blockDim.x + threadIdx.x;
    const T x = *own * T(0.01), factor = T(0.99);
    T p = *own, q = p, r = p, s = p;
    for (int k = 0; k < steps; ++k) {
        p = fma(p, factor, x);
        q = fma(q, -factor, x);
        r = fma(r, -factor, p);
        s = fma(s, T(-0.5), q);
    }
    *own = p + q + r + s;
}
extern "C" __global__ void decay32(int steps, float* a) {
    decay(steps, a);
}
extern "C" __global__ void decay64(int steps, double* a) {
    decay(steps, a);
}
