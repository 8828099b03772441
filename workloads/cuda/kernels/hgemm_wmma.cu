// SPDX-License-Identifier: Apache-2.0
// C[m][n] (FP32) = A[m][k] * B[k][n] (FP16) on Tensor Cores through nvcuda::wmma. Block: 128
// threads, four warps of 32x32 for a 64x64 tile; grid: (ceil(n/64), ceil(m/64)).
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 64, kDepth = 32, kPad = 8;  // the pad keeps rows 16-byte aligned, off one bank

extern "C" __global__ void __launch_bounds__(128)
    hgemm_wmma(const __half* a, const __half* b, float* c, int m, int n, int k) {
    __shared__ __align__(32) __half a_tile[kTile][kDepth + kPad];
    __shared__ __align__(32) __half b_tile[kDepth][kTile + kPad];
    __shared__ __align__(32) float c_tile[kTile][kTile + kPad];
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const int warp_row = threadIdx.x / 64 * 32, warp_col = threadIdx.x / 32 % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k0 = 0; k0 < k; k0 += kDepth) {
        for (int at = threadIdx.x; at < kTile * kDepth; at += 128) {
            const int a_row = at / kDepth, a_k = at % kDepth;
            a_tile[a_row][a_k] = row0 + a_row < m && k0 + a_k < k
                                     ? a[(size_t)(row0 + a_row) * k + k0 + a_k]
                                     : __half(0.0f);
            const int b_k = at / kTile, b_col = at % kTile;
            b_tile[b_k][b_col] = k0 + b_k < k && col0 + b_col < n
                                     ? b[(size_t)(k0 + b_k) * n + col0 + b_col]
                                     : __half(0.0f);
        }
        __syncthreads();
        for (int depth = 0; depth < kDepth; depth += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a_part[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b_part[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(a_part[i], &a_tile[warp_row + 16 * i][depth], kDepth + kPad);
                wmma::load_matrix_sync(b_part[i], &b_tile[depth][warp_col + 16 * i], kTile + kPad);
            }
            for (int i = 0; i < 4; ++i) {
                wmma::mma_sync(sum[i / 2][i % 2], a_part[i / 2], b_part[i % 2], sum[i / 2][i % 2]);
            }
        }
        __syncthreads();
    }
    // Through shared memory: a fragment can only be stored whole, an edge tile is not.
    for (int i = 0; i < 4; ++i) {
        wmma::store_matrix_sync(&c_tile[warp_row + i / 2 * 16][warp_col + i % 2 * 16],
                                sum[i / 2][i % 2], kTile + kPad, wmma::mem_row_major);
    }
    __syncthreads();
    for (int at = threadIdx.x; at < kTile * kTile; at += 128) {
        const int row = at / kTile, col = at % kTile;
        if (row0 + row < m && col0 + col < n) {
            c[(size_t)(row0 + row) * n + col0 + col] = c_tile[row][col];
        }
    }
}
