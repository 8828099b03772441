// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C; each thread keeps an 8x8 block of C in registers, so that 16 values
// read from shared memory feed 64 multiply-adds. Block: 256 threads for a 128x128 tile of C;
// grid: (ceil(n/128), ceil(m/128)).

constexpr int kTile = 128, kDepth = 8;

extern "C" __global__ void __launch_bounds__(256)
    sgemm_register_blocked(const float* a, const float* b, float* c, int m, int n, int k,
                           float alpha, float beta) {
    __shared__ __align__(16) float a_tile[kDepth][kTile + 4];  // transposed; padded against conflicts
    __shared__ __align__(16) float b_tile[kDepth][kTile];
    const int thread = threadIdx.x;
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const int thread_row = thread / 16 * 8, thread_col = thread % 16 * 8;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll
        for (int i = 0; i < kTile * kDepth / 256; ++i) {
            const int at = thread + i * 256;
            const int a_row = at / kDepth, a_k = at % kDepth;
            a_tile[a_k][a_row] = row0 + a_row < m && k0 + a_k < k
                                     ? a[(size_t)(row0 + a_row) * k + k0 + a_k]
                                     : 0.0f;
            const int b_k = at / kTile, b_col = at % kTile;
            b_tile[b_k][b_col] = k0 + b_k < k && col0 + b_col < n
                                     ? b[(size_t)(k0 + b_k) * n + col0 + b_col]
                                     : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            float a_part[8], b_part[8];
#pragma unroll
            for (int j = 0; j < 8; ++j) a_part[j] = a_tile[i][thread_row + j];
#pragma unroll
            for (int j = 0; j < 8; ++j) b_part[j] = b_tile[i][thread_col + j];
#pragma unroll
            for (int y = 0; y < 8; ++y) {
#pragma unroll
                for (int x = 0; x < 8; ++x) sum[y][x] += a_part[y] * b_part[x];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 8; ++y) {
#pragma unroll
        for (int x = 0; x < 8; ++x) {
            const int row = row0 + thread_row + y, col = col0 + thread_col + x;
            if (row < m && col < n) {
                float* out = c + (size_t)row * n + col;
                *out = alpha * sum[y][x] + (beta != 0.0f ? beta * *out : 0.0f);
            }
        }
    }
}
