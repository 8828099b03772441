// SPDX-License-Identifier: Apache-2.0
// C[m][n] = alpha * op(A) * op(B) + beta * C for a linear layer's three products: nn (forward),
// nt (B stored as [n][k]: gradient of the input), tn (A stored as [k][m]: gradient of the weights).
// 64x64 tiles, 4x4 a thread: for the small matrices of training. Block: 256 threads;
// grid: (ceil(n/64), ceil(m/64), batch); matrices of a batch lie one after another.

constexpr int kTile = 64, kDepth = 16;

template <bool a_transposed, bool b_transposed>
__device__ __forceinline__ void sgemm(const float* a, const float* b, float* c, int m, int n,
                                      int k, float alpha, float beta) {
    __shared__ __align__(16) float a_tile[kDepth][kTile + 4], b_tile[kDepth][kTile + 4];
    a += (size_t)blockIdx.z * m * k;
    b += (size_t)blockIdx.z * k * n;
    c += (size_t)blockIdx.z * m * n;
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const int thread_row = threadIdx.x / 16 * 4, thread_col = threadIdx.x % 16 * 4;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll
        for (int i = 0; i < kTile * kDepth / 256; ++i) {
            const int at = threadIdx.x + i * 256;
            // Neighbouring threads read neighbouring addresses, whichever way the matrix is stored.
            const int a_k = a_transposed ? at / kTile : at % kDepth;
            const int a_row = a_transposed ? at % kTile : at / kDepth;
            const size_t a_at = a_transposed ? (size_t)(k0 + a_k) * m + row0 + a_row
                                             : (size_t)(row0 + a_row) * k + k0 + a_k;
            a_tile[a_k][a_row] = row0 + a_row < m && k0 + a_k < k ? a[a_at] : 0.0f;
            const int b_k = b_transposed ? at % kDepth : at / kTile;
            const int b_col = b_transposed ? at / kDepth : at % kTile;
            const size_t b_at = b_transposed ? (size_t)(col0 + b_col) * k + k0 + b_k
                                             : (size_t)(k0 + b_k) * n + col0 + b_col;
            b_tile[b_k][b_col] = col0 + b_col < n && k0 + b_k < k ? b[b_at] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            const float4 a4 = *reinterpret_cast<const float4*>(&a_tile[i][thread_row]);
            const float4 b4 = *reinterpret_cast<const float4*>(&b_tile[i][thread_col]);
            const float a_part[4] = {a4.x, a4.y, a4.z, a4.w};
            const float b_part[4] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
            for (int y = 0; y < 4; ++y) {
#pragma unroll
                for (int x = 0; x < 4; ++x) sum[y][x] += a_part[y] * b_part[x];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 4; ++y) {
#pragma unroll
        for (int x = 0; x < 4; ++x) {
            const int row = row0 + thread_row + y, col = col0 + thread_col + x;
            if (row < m && col < n) {
                float* out = c + (size_t)row * n + col;
                *out = alpha * sum[y][x] + (beta != 0.0f ? beta * *out : 0.0f);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_nn(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
             float beta) {
    sgemm<false, false>(a, b, c, m, n, k, alpha, beta);
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_nt(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
             float beta) {
    sgemm<false, true>(a, b, c, m, n, k, alpha, beta);
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_tn(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
             float beta) {
    sgemm<true, false>(a, b, c, m, n, k, alpha, beta);
}
