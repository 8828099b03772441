// SPDX-License-Identifier: Apache-2.0
// C[m][n] (FP32) = A[m][k] * B[k][n] (FP16) on Tensor Cores: mma.sync fed by ldmatrix from two
// buffers, one of which cp.async fills while the other is multiplied. Rows whose length is no
// multiple of 8 are copied by single elements. Block: 256 threads, eight warps of 64x32 for a
// 128x128 tile; grid: (ceil(n/128), ceil(m/128)).
#include <cuda_fp16.h>

#include "async_copy.cuh"
#include "matrix_instructions.cuh"

constexpr int kTile = 128, kDepth = 32, kPad = 8;

struct Stage {
    __half a[kTile][kDepth + kPad];  // the pads put the 8 rows of an ldmatrix tile in all 32 banks
    __half b[kDepth][kTile + kPad];
};

// Eight consecutive elements of a row of `cols` into shared memory; zeros outside.
__device__ __forceinline__ void load8(__half* to, const __half* x, int row, int rows, int col,
                                      int cols) {
    const __half* from = x + (size_t)row * cols + col;
    if (cols % 8 == 0) {
        const bool valid = row < rows && col < cols;
        copy_async<16>(to, valid ? from : x, valid);
    } else {
        for (int i = 0; i < 8; ++i) {
            to[i] = row < rows && col + i < cols ? from[i] : __half(0.0f);
        }
    }
}

__device__ __forceinline__ void load_stage(Stage& stage, const __half* a, const __half* b, int m,
                                           int n, int k, int row0, int col0, int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int at = threadIdx.x + i * 256;
        const int a_row = at / 4, a_k = at % 4 * 8, b_k = at / 16, b_col = at % 16 * 8;
        load8(&stage.a[a_row][a_k], a, row0 + a_row, m, k0 + a_k, k);
        load8(&stage.b[b_k][b_col], b, k0 + b_k, k, col0 + b_col, n);
    }
    commit_copies();
}

extern "C" __global__ void __launch_bounds__(256)
    hgemm(const __half* a, const __half* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) Stage stages[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const int warp_row = warp / 4 * 64, warp_col = warp % 4 * 32;
    float sum[4][4][4] = {};  // 4x4 tiles of 16x8
    load_stage(stages[0], a, b, m, n, k, row0, col0, 0);
    const int steps = (k + kDepth - 1) / kDepth;
    for (int step = 0; step < steps; ++step) {
        wait_for_copies<0>();
        __syncthreads();  // this step's tiles have come, and all are done with the previous step's
        if (step + 1 < steps) {
            load_stage(stages[(step + 1) % 2], a, b, m, n, k, row0, col0, (step + 1) * kDepth);
        }
        const Stage& stage = stages[step % 2];
#pragma unroll
        for (int depth = 0; depth < kDepth; depth += 16) {
            unsigned a_part[4][4], b_part[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                load_matrix_x4(a_part[i],
                               &stage.a[warp_row + 16 * i + lane % 16][depth + lane / 16 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                load_matrix_x4_transposed(
                    b_part[i], &stage.b[depth + lane % 16][warp_col + 16 * i + lane / 16 * 8]);
            }
#pragma unroll
            for (int y = 0; y < 4; ++y) {
#pragma unroll
                for (int x = 0; x < 4; ++x) {
                    mma_f16(sum[y][x], a_part[y], b_part[x / 2][x % 2 * 2],
                            b_part[x / 2][x % 2 * 2 + 1]);
                }
            }
        }
    }
#pragma unroll
    for (int y = 0; y < 4; ++y) {
#pragma unroll
        for (int x = 0; x < 4; ++x) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int row = row0 + warp_row + 16 * y + lane / 4 + i / 2 * 8;
                const int col = col0 + warp_col + 8 * x + lane % 4 * 2 + i % 2;
                if (row < m && col < n) c[(size_t)row * n + col] = sum[y][x][i];
            }
        }
    }
}
