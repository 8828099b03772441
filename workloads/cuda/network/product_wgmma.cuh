// SPDX-License-Identifier: Apache-2.0
// Products and convolutions (implicit GEMM) by warpgroups, sm_90a: wgmma reads tiles of both
// operands from shared memory, rows along k in pieces of 128 bytes with the 128-byte swizzle, where
// cp.async puts them. A warpgroup computes 64 rows of the tile. Its products of one step run while
// the copies of a later one are started. Only where 16 bytes along k are consecutive and aligned in
// both operands. Block: threads of the tile; grid: (tiles of n, tiles of m, splits * batches);
// shared memory: group_shared_bytes.
#pragma once

#include "../hopper/row_product.cuh"
#include "../kernels/async_copy.cuh"
#include "product.cuh"
#include "quantised.cuh"

namespace lockstep::kernels {

/// Element: of the operands; Result: of what the common epilogue writes and reads.
template <class Element, class Sum, class Result, int M, int N>
__device__ __forceinline__ void group_product(const Product& p) {
    constexpr int kThreads = M * 2, kDepth = kGroupDepthBytes / static_cast<int>(sizeof(Element));
    constexpr int kChunks = kGroupDepthBytes / 16, kRowsAtOnce = kThreads / kChunks;
    constexpr int kBytesA = M * kGroupDepthBytes, kStageBytes = (M + N) * kGroupDepthBytes;
    constexpr int kAhead = kGroupStages - 2;  // steps whose copies are on their way
    extern __shared__ unsigned char memory[];
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    const unsigned first = (base + 1023) / 1024 * 1024;
    unsigned char* const stages = memory + (first - base);
    const int batches = gridDim.z / p.splits;
    const int split = blockIdx.z / batches, batch = blockIdx.z - split * batches;
    const Batch batch_at(p, batch);
    const Element* const a = static_cast<const Element*>(p.a) + batch_at.offset(p.a_batch);
    const Element* const b = static_cast<const Element*>(p.b) + batch_at.offset(p.b_batch);
    const int row0 = blockIdx.y * M, column0 = blockIdx.x * N;
    const int k_begin = split * p.split_k, k_end = min(p.k, k_begin + p.split_k);
    const int chunk = threadIdx.x % kChunks, row = threadIdx.x / kChunks;

    WindowRow rows[M / kRowsAtOnce];
#pragma unroll
    for (int i = 0; i < M / kRowsAtOnce; ++i) rows[i].set(p, row0 + row + i * kRowsAtOnce);

    const auto bring = [&](int step) {
        unsigned char* const stage = stages + step % kGroupStages * kStageBytes;
        const int k = k_begin + step * kDepth + chunk * (16 / static_cast<int>(sizeof(Element)));
        const Tap tap(p, k);
        const int in_a = tap.in_a(p), in_b = tap.in_b(p);
        // Rows of a pass are a multiple of eight apart: one place in the swizzle.
        unsigned char* const to = stage + swizzled(row, chunk);
#pragma unroll
        for (int i = 0; i < M / kRowsAtOnce; ++i) {
            const bool hits = k < k_end && tap.hits(p, rows[i]);
            copy_async<16>(to + i * kRowsAtOnce * kGroupDepthBytes,
                           hits ? a + (rows[i].offset + in_a) : a, hits);
        }
#pragma unroll
        for (int i = 0; i < N / kRowsAtOnce; ++i) {
            const int column = column0 + row + i * kRowsAtOnce;
            const bool hits = k < k_end && column < p.n;
            copy_async<16>(to + kBytesA + i * kRowsAtOnce * kGroupDepthBytes,
                           hits ? b + (column * p.b_n + in_b) : b, hits);
        }
    };

    const int warpgroup = threadIdx.x / 128;
    Sum sum[N / 2] = {};
    const int steps = (k_end - k_begin + kDepth - 1) / kDepth;
    // The first steps only bring tiles: that way the code that does is there once.
    for (int step = -kAhead; step < steps; ++step) {
        if (step >= 0) {
            wait_for_copies<kAhead - 1>();
            publish_to_products();
            __syncthreads();  // this step's tiles have come; the step before the last is computed
            const unsigned stage = first + step % kGroupStages * kStageBytes;
            begin_products();
            ladder::multiply_stage<Element, N>(sum, stage + warpgroup * 64 * kGroupDepthBytes,
                                               stage + kBytesA, step != 0);
            commit_products();
        }
        if (step + kAhead < steps) bring(step + kAhead);
        commit_copies();
        wait_for_products<1>();
    }
    wait_for_products<0>();
    wait_for_copies<0>();
    __syncthreads();

    auto* const sums = reinterpret_cast<float(*)[N + 4]>(stages);
    static_assert(M * (N + 4) * 4 <= kGroupStages * kStageBytes);
    const int thread = threadIdx.x % 128;
    const int own_row = warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < N / 2; i += 2) {
        float* const to = &sums[own_row + i / 2 % 2 * 8][i / 4 * 8 + thread % 4 * 2];
        if constexpr (std::is_same_v<Sum, int>)
            *reinterpret_cast<int2*>(to) = make_int2(sum[i], sum[i + 1]);
        else
            *reinterpret_cast<float2*>(to) = make_float2(sum[i], sum[i + 1]);
    }
    __syncthreads();
    const auto row_of = [&](int r) { return row0 + r; };
    if constexpr (std::is_same_v<Sum, int>)
        put_integer_tile<M, N, kThreads>(p, sums, column0, batch, batch_at, row_of);
    else
        put_tile<Result, M, N, kThreads>(p, sums, column0, batch, batch_at, row_of);
}

#define GROUP_KERNEL(name, tile, Element, Sum, Result)          \
    extern "C" __global__ void __launch_bounds__(tile.threads)  \
        name(const lockstep::kernels::Product p) {              \
        group_product<Element, Sum, Result, tile.m, tile.n>(p); \
    }
#define GROUP_KERNELS(name, Element, Sum, Result)                   \
    GROUP_KERNEL(name##_wide, kWideGroupTile, Element, Sum, Result) \
    GROUP_KERNEL(name##_large, kGroupTile, Element, Sum, Result)    \
    GROUP_KERNEL(name##_small, kSmallGroupTile, Element, Sum, Result)

}  // namespace lockstep::kernels
