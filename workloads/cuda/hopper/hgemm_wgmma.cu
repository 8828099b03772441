// SPDX-License-Identifier: Apache-2.0
// C[m][n] (FP32) = A[m][k] * B[k][n] (FP16) by warpgroups: wgmma reads both tiles from shared
// memory, where cp.async puts them, `stages` deep. A warpgroup computes 64 rows of the tile, all of
// them its columns. Rows whose length is no multiple of 8 are copied by single elements. Block: 128
// threads for each 64 rows, one or two times; grid: (ceil(n / columns), ceil(m / rows)); shared
// memory: stages * (rows + columns) * 128 bytes and 1024 to align.
#include "../kernels/async_copy.cuh"
#include "warpgroup.cuh"

constexpr int kDepth = 64;  // of a stage: rows of 128 bytes
constexpr int kStep = 16;   // of one wgmma

// Eight consecutive elements of a row of `cols`; zeros outside.
__device__ __forceinline__ void load8(char* to, const __half* x, int row, int rows, int col,
                                      int cols) {
    const __half* from = x + (size_t)row * cols + col;
    if (cols % 8 == 0) {
        const bool valid = row < rows && col < cols;
        copy_async<16>(to, valid ? from : x, valid);
    } else {
        for (int i = 0; i < 8; ++i) {
            reinterpret_cast<__half*>(to)[i] =
                row < rows && col + i < cols ? from[i] : __half(0.0f);
        }
    }
}

// A by rows of 64 k. B by rows of 64 n: a block of 64 x 64 after the other.
template <int columns>
__device__ __forceinline__ void load_stage(char* a_tile, char* b_tile, const __half* a,
                                           const __half* b, int m, int n, int k, int row0, int col0,
                                           int k0) {
    const int rows = blockDim.x / 2;
    for (int at = threadIdx.x; at < rows * 8; at += blockDim.x) {
        load8(a_tile + swizzled(at / 8, at % 8), a, row0 + at / 8, m, k0 + at % 8 * 8, k);
    }
    for (int at = threadIdx.x; at < kDepth * columns / 8; at += blockDim.x) {
        const int row = at / (columns / 8), piece = at % (columns / 8);
        load8(b_tile + piece / 8 * kDepth * 128 + swizzled(row, piece % 8), b, k0 + row, k,
              col0 + piece * 8, n);
    }
    commit_copies();
}

template <int columns>
__device__ __forceinline__ void hgemm(const __half* a, const __half* b, float* c, int m, int n,
                                      int k, int stages) {
    extern __shared__ char memory[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    const unsigned first = (base + 1023) / 1024 * 1024;
    char* const tiles = memory + (first - base);
    const int rows = blockDim.x / 2, warpgroup = threadIdx.x / 128;
    const unsigned a_bytes = rows * 128, stage_bytes = a_bytes + columns * 128;
    const int row0 = blockIdx.y * rows, col0 = blockIdx.x * columns;
    const int steps = (k + kDepth - 1) / kDepth;

    float sum[columns / 2] = {};
    const auto load = [&](int step) {
        char* const stage = tiles + step % stages * stage_bytes;
        load_stage<columns>(stage, stage + a_bytes, a, b, m, n, k, row0, col0, step * kDepth);
    };
    for (int step = 0; step < stages - 1; ++step) {
        if (step < steps) {
            load(step);
        } else {
            commit_copies();  // an empty group, so that they can be counted
        }
    }
    for (int step = 0; step < steps; ++step) {
        // The newest stages - 2 groups may still be on their way.
        if (stages == 2) {
            wait_for_copies<0>();
        } else if (stages == 3) {
            wait_for_copies<1>();
        } else {
            wait_for_copies<2>();
        }
        publish_to_products();
        __syncthreads();  // this step's tiles have come, and all are done with the previous step's
        if (step + stages - 1 < steps) {
            load(step + stages - 1);
        } else {
            commit_copies();
        }
        const unsigned stage = first + step % stages * stage_bytes;
        const unsigned a_tile = stage + warpgroup * 64 * 128, b_tile = stage + a_bytes;
        begin_products();
#pragma unroll
        for (int depth = 0; depth < kDepth; depth += kStep) {
            // A: k within a row of 128 bytes; B: 16 rows of k further, blocks of 64 columns apart.
            Product<columns>::run(sum, descriptor(a_tile + depth * 2, 16, 1024),
                                  descriptor(b_tile + depth * 128, kDepth * 128, 1024));
        }
        commit_products();
        wait_for_products<0>();
    }
    const int thread = threadIdx.x % 128;
    const int row = row0 + warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < columns / 2; i += 2) {
        const int r = row + i / 2 % 2 * 8, col = col0 + i / 4 * 8 + thread % 4 * 2;
        if (r >= m) continue;
        float* const to = c + (size_t)r * n + col;
        if (n % 2 == 0) {
            if (col < n) *reinterpret_cast<float2*>(to) = make_float2(sum[i], sum[i + 1]);
        } else {
            if (col < n) to[0] = sum[i];
            if (col + 1 < n) to[1] = sum[i + 1];
        }
    }
}

#define KERNEL(columns)                                                                \
    extern "C" __global__ void __launch_bounds__(256) hgemm_wgmma_##columns(           \
        const __half* a, const __half* b, float* c, int m, int n, int k, int stages) { \
        hgemm<columns>(a, b, c, m, n, k, stages);                                      \
    }
KERNEL(64)
KERNEL(128)
KERNEL(256)
