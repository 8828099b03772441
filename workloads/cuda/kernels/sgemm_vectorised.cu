// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C; as register-blocked, with 16-byte accesses to global and shared
// memory. The 8x8 block of a thread is four 4x4 blocks, 64 apart: then the 16-byte reads of a warp
// fall into different banks. Rows whose length is no multiple of 4 are read by single elements.
// Block: 256 threads for a 128x128 tile; grid: (ceil(n/128), ceil(m/128)).

constexpr int kTile = 128, kDepth = 8;

// Four consecutive elements of a row of `cols`; zeros outside.
__device__ __forceinline__ float4 load4(const float* x, int row, int rows, int col, int cols) {
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= rows) return v;
    const float* at = x + (size_t)row * cols + col;
    if (cols % 4 == 0) {
        if (col < cols) v = *reinterpret_cast<const float4*>(at);
    } else {
        if (col < cols) v.x = at[0];
        if (col + 1 < cols) v.y = at[1];
        if (col + 2 < cols) v.z = at[2];
        if (col + 3 < cols) v.w = at[3];
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_vectorised(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
                     float beta) {
    __shared__ __align__(16) float a_tile[kDepth][kTile + 4];
    __shared__ __align__(16) float b_tile[kDepth][kTile];
    const int thread = threadIdx.x;
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
    const int ty = thread / 16 * 4, tx = thread % 16 * 4;
    const int a_row = thread / 2, a_k = thread % 2 * 4;
    const int b_k = thread / 32, b_col = thread % 32 * 4;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += kDepth) {
        const float4 a4 = load4(a, row0 + a_row, m, k0 + a_k, k);
        a_tile[a_k][a_row] = a4.x;
        a_tile[a_k + 1][a_row] = a4.y;
        a_tile[a_k + 2][a_row] = a4.z;
        a_tile[a_k + 3][a_row] = a4.w;
        *reinterpret_cast<float4*>(&b_tile[b_k][b_col]) = load4(b, k0 + b_k, k, col0 + b_col, n);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            float a_part[8], b_part[8];
            *reinterpret_cast<float4*>(a_part) = *reinterpret_cast<float4*>(&a_tile[i][ty]);
            *reinterpret_cast<float4*>(a_part + 4) = *reinterpret_cast<float4*>(&a_tile[i][ty + 64]);
            *reinterpret_cast<float4*>(b_part) = *reinterpret_cast<float4*>(&b_tile[i][tx]);
            *reinterpret_cast<float4*>(b_part + 4) = *reinterpret_cast<float4*>(&b_tile[i][tx + 64]);
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
        const int row = row0 + ty + y % 4 + y / 4 * 64;
#pragma unroll
        for (int x = 0; x < 8; x += 4) {
            const int col = col0 + tx + x / 4 * 64;
            float* out = c + (size_t)row * n + col;
            if (row < m && n % 4 == 0 && col < n) {
                float4 v = make_float4(alpha * sum[y][x], alpha * sum[y][x + 1],
                                       alpha * sum[y][x + 2], alpha * sum[y][x + 3]);
                if (beta != 0.0f) {
                    const float4 old = *reinterpret_cast<const float4*>(out);
                    v.x += beta * old.x;
                    v.y += beta * old.y;
                    v.z += beta * old.z;
                    v.w += beta * old.w;
                }
                *reinterpret_cast<float4*>(out) = v;
            } else if (row < m) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    if (col + i < n) {
                        out[i] = alpha * sum[y][x + i] + (beta != 0.0f ? beta * out[i] : 0.0f);
                    }
                }
            }
        }
    }
}
