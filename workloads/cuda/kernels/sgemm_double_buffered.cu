// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C; two buffers of shared memory: while one tile is multiplied, cp.async
// brings the next one, and no register holds it on its way. A is transposed on the way in by 4-byte
// copies; B comes in 16-byte copies where its rows allow. Block: 256 threads for a 128x128 tile;
// grid: (ceil(n/128), ceil(m/128)).
#include "async_copy.cuh"

constexpr int kTile = 128, kDepth = 8;

struct Tiles {
    float a[kDepth][kTile + 4];
    float b[kDepth][kTile];
};

__device__ __forceinline__ void load_tiles(Tiles& tiles, const float* a, const float* b, int m,
                                           int n, int k, int row0, int col0, int k0) {
    const int thread = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = (thread + i * 256) / kDepth, depth = thread % kDepth;
        const bool valid = row0 + row < m && k0 + depth < k;
        copy_async<4>(&tiles.a[depth][row],
                      valid ? a + (size_t)(row0 + row) * k + k0 + depth : a, valid);
    }
    const int depth = thread / 32, col = thread % 32 * 4;
    const float* from = b + (size_t)(k0 + depth) * n + col0 + col;
    if (n % 4 == 0) {
        const bool valid = k0 + depth < k && col0 + col < n;
        copy_async<16>(&tiles.b[depth][col], valid ? from : b, valid);
    } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const bool valid = k0 + depth < k && col0 + col + i < n;
            copy_async<4>(&tiles.b[depth][col + i], valid ? from + i : b, valid);
        }
    }
    commit_copies();
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_double_buffered(const float* a, const float* b, float* c, int m, int n, int k,
                          float alpha, float beta) {
    __shared__ __align__(16) Tiles tiles[2];
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const int ty = threadIdx.x / 16 * 4, tx = threadIdx.x % 16 * 4;
    float sum[8][8] = {};
    int current = 0;
    load_tiles(tiles[0], a, b, m, n, k, row0, col0, 0);
    for (int k0 = 0; k0 < k; k0 += kDepth) {
        if (k0 + kDepth < k) {
            load_tiles(tiles[1 - current], a, b, m, n, k, row0, col0, k0 + kDepth);
            wait_for_copies<1>();
        } else {
            wait_for_copies<0>();
        }
        __syncthreads();
        const Tiles& tile = tiles[current];
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            float a_part[8], b_part[8];
            *reinterpret_cast<float4*>(a_part) = *reinterpret_cast<const float4*>(&tile.a[i][ty]);
            *reinterpret_cast<float4*>(a_part + 4) =
                *reinterpret_cast<const float4*>(&tile.a[i][ty + 64]);
            *reinterpret_cast<float4*>(b_part) = *reinterpret_cast<const float4*>(&tile.b[i][tx]);
            *reinterpret_cast<float4*>(b_part + 4) =
                *reinterpret_cast<const float4*>(&tile.b[i][tx + 64]);
#pragma unroll
            for (int y = 0; y < 8; ++y) {
#pragma unroll
                for (int x = 0; x < 8; ++x) sum[y][x] += a_part[y] * b_part[x];
            }
        }
        __syncthreads();
        current = 1 - current;
    }
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        const int row = row0 + ty + y % 4 + y / 4 * 64;
#pragma unroll
        for (int x = 0; x < 8; ++x) {
            const int col = col0 + tx + x % 4 + x / 4 * 64;
            if (row < m && col < n) {
                float* out = c + (size_t)row * n + col;
                *out = alpha * sum[y][x] + (beta != 0.0f ? beta * *out : 0.0f);
            }
        }
    }
}
