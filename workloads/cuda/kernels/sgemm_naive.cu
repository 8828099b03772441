// SPDX-License-Identifier: Apache-2.0
// C[m][n] = alpha * A[m][k] * B[k][n] + beta * C, one thread for each element of C.
// Block: 16x16; grid: (ceil(n/16), ceil(m/16)). C is not read where beta is 0.

extern "C" __global__ void sgemm_naive(const float* a, const float* b, float* c, int m, int n,
                                       int k, float alpha, float beta) {
    const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
    float* out = c + (size_t)row * n + col;
    *out = alpha * sum + (beta != 0.0f ? beta * *out : 0.0f);
}
