// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C; tiles of A and B pass through shared memory, so that each element
// is read from global memory once a block. Block: 32x32; grid: (ceil(n/32), ceil(m/32)).

extern "C" __global__ void sgemm_shared(const float* a, const float* b, float* c, int m, int n,
                                        int k, float alpha, float beta) {
    __shared__ float a_tile[32][32], b_tile[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * 32 + tx, row = blockIdx.y * 32 + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += 32) {
        a_tile[ty][tx] = row < m && k0 + tx < k ? a[(size_t)row * k + k0 + tx] : 0.0f;
        b_tile[ty][tx] = k0 + ty < k && col < n ? b[(size_t)(k0 + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 32; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row >= m || col >= n) return;
    float* out = c + (size_t)row * n + col;
    *out = alpha * sum + (beta != 0.0f ? beta * *out : 0.0f);
}
