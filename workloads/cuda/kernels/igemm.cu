// SPDX-License-Identifier: Apache-2.0
// C[m][n] (INT32) = A[m][k] * B[n][k]^T (INT8) on Tensor Cores; B holds one row for each output, as
// weights do, because the instruction takes its columns along k. Two buffers filled by cp.async;
// rows whose length is no multiple of 16 are copied by single elements. Block: 128 threads, four
// warps of 32x32 for a 64x64 tile; grid: (ceil(n/64), ceil(m/64)).
#include "async_copy.cuh"
#include "matrix_instructions.cuh"

constexpr int kTile = 64, kDepth = 64, kPad = 16;

struct Stage {
    signed char a[kTile][kDepth + kPad];
    signed char b[kTile][kDepth + kPad];
};

// Sixteen consecutive elements of a row of `cols` into shared memory; zeros outside.
__device__ __forceinline__ void load16(signed char* to, const signed char* x, int row, int rows,
                                       int col, int cols) {
    const signed char* from = x + (size_t)row * cols + col;
    if (cols % 16 == 0) {
        const bool valid = row < rows && col < cols;
        copy_async<16>(to, valid ? from : x, valid);
    } else {
        for (int i = 0; i < 16; ++i) to[i] = row < rows && col + i < cols ? from[i] : 0;
    }
}

__device__ __forceinline__ void load_stage(Stage& stage, const signed char* a,
                                           const signed char* b, int m, int n, int k, int row0,
                                           int col0, int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int at = threadIdx.x + i * 128, row = at / 4, col = at % 4 * 16;
        load16(&stage.a[row][col], a, row0 + row, m, k0 + col, k);
        load16(&stage.b[row][col], b, col0 + row, n, k0 + col, k);
    }
    commit_copies();
}

extern "C" __global__ void __launch_bounds__(128)
    igemm(const signed char* a, const signed char* b, int* c, int m, int n, int k) {
    __shared__ __align__(16) Stage stages[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;
    int sum[2][4][4] = {};  // 2x4 tiles of 16x8
    load_stage(stages[0], a, b, m, n, k, row0, col0, 0);
    const int steps = (k + kDepth - 1) / kDepth;
    for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) {
            load_stage(stages[(step + 1) % 2], a, b, m, n, k, row0, col0, (step + 1) * kDepth);
            wait_for_copies<1>();
        } else {
            wait_for_copies<0>();
        }
        __syncthreads();
        const Stage& stage = stages[step % 2];
#pragma unroll
        for (int depth = 0; depth < kDepth; depth += 32) {
            unsigned a_part[2][4], b_part[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                // Two int8 are one 16-bit element of ldmatrix.
                load_matrix_x4(a_part[i],
                               &stage.a[warp_row + 16 * i + lane % 16][depth + lane / 16 * 16]);
                load_matrix_x4(b_part[i], &stage.b[warp_col + 16 * i + lane / 16 * 8 + lane % 8]
                                                  [depth + lane / 8 % 2 * 16]);
            }
#pragma unroll
            for (int y = 0; y < 2; ++y) {
#pragma unroll
                for (int x = 0; x < 4; ++x) {
                    mma_s8(sum[y][x], a_part[y], b_part[x / 2][x % 2 * 2],
                           b_part[x / 2][x % 2 * 2 + 1]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
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
