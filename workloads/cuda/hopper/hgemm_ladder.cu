// SPDX-License-Identifier: Apache-2.0
// C[n][m] (BF16) = (A[m][k] * B[n][k]^T)^T (BF16, FP32 sums), step by step from a thread an element
// to a persistent kernel of clusters. The steps are those of a published ladder for H100 (P.
// Shankhdhar, "Outperforming cuBLAS on H100: a Worklog", and its kernels, pranjalssh/fast.cu):
// tiles, stages, who arrives at which barrier, who loads what, how C is stored. TMA pads with
// zeros: sizes are any, but rows begin at multiples of 16 bytes. What a step adds:
//   1  a thread computes an element
//   2  a warpgroup computes 64 x 64 by wgmma, tiles by TMA, one after the other
//   3  128 x 128
//   4  another warpgroup loads ahead, several stages; all threads arrive at their barriers
//   5  128 x 256 by two warpgroups, which take registers from the one that loads
//   6  a CTA stays and computes tiles one after the other, in an order that shares operands in L2
//   7  one thread of a warpgroup arrives for all
//   8  clusters of two, one above the other: the first one loads B for both
//   9  C by TMA from shared memory, while the next tile is computed
//  10  tiles along a Hilbert curve
// Dynamic shared memory: stages * (rows + columns) * 128 bytes, 1024 to align, from step 9 on C's
// tile.
#include "ladder.cuh"

using namespace ladder;

extern "C" __global__ void hgemm_ladder_1(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                          __nv_bfloat16* c, int m, int n, int k, int pitch,
                                          int pitch_c) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i)
        sum += __bfloat162float(a[(size_t)row * pitch + i]) *
               __bfloat162float(b[(size_t)col * pitch + i]);
    c[(size_t)col * pitch_c + row] = __float2bfloat16(sum);
}

extern __shared__ char dynamic_memory[];

__device__ __forceinline__ char* aligned_memory() {
    return dynamic_memory + (1024 - tma::shared_address(dynamic_memory) % 1024) % 1024;
}

// Steps 2 and 3: grid (columns of tiles, rows of tiles).
template <int rows, int columns>
__device__ __forceinline__ void simple(const CUtensorMap& a, const CUtensorMap& b, __nv_bfloat16* c,
                                       int n, int pitch_c, int steps) {
    constexpr int kDepth = kRowBytes / 2;
    __shared__ tma::Barrier a_full, b_full;
    char* const tiles = aligned_memory();
    const unsigned a_tile = tma::shared_address(tiles), b_tile = a_tile + rows * kRowBytes;
    const int row0 = blockIdx.y * rows, col0 = blockIdx.x * columns;
    if (threadIdx.x == 0) {
        tma::init(a_full, kWarpgroup);
        tma::init(b_full, kWarpgroup);
        tma::publish();
    }
    __syncthreads();
    float sum[rows / 64][columns / 2] = {};
    for (int step = 0; step < steps; ++step) {
        unsigned long long a_state, b_state;
        if (threadIdx.x == 0) {
            tma::load(tiles, a, step * kDepth, row0, a_full);
            a_state = arrive_and_expect(a_full, rows * kRowBytes);
            tma::load(tiles + rows * kRowBytes, b, step * kDepth, col0, b_full);
            b_state = arrive_and_expect(b_full, columns * kRowBytes);
        } else {
            a_state = arrive(a_full);
            b_state = arrive(b_full);
        }
        wait(a_full, a_state);
        wait(b_full, b_state);
        __syncthreads();
        begin_products();
#pragma unroll
        for (int part = 0; part < rows / 64; ++part)
            multiply_stage<__nv_bfloat16, columns>(sum[part], a_tile + part * 64 * kRowBytes,
                                                   b_tile, true);
        commit_products();
        wait_for_products<0>();
    }
#pragma unroll
    for (int part = 0; part < rows / 64; ++part)
        store_columns(sum[part], c, row0 + part * 64, col0, n, pitch_c);
}

struct Pipeline {
    int stage = 0, parity = 0;
    __device__ __forceinline__ void next(int stages) {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// What the steps from 4 on differ in.
template <class Element, class Result, class Accumulator, int n, int consumer_groups, int depth,
          Order order, bool one_arrives, int cluster_size, bool tma_store>
struct Config {
    using T = Element;
    using Out = Result;
    using Sum = Accumulator;
    static constexpr int kColumns = n, kConsumers = consumer_groups, kStages = depth;
    static constexpr Order kOrder = order;
    static constexpr bool kPersistent = order != Order::kRows;
    static constexpr bool kOneArrives = one_arrives, kStore = tma_store;
    static constexpr int kCluster = cluster_size;
    static constexpr int kParts = kRows / 64 / kConsumers;  // of 64 rows by consumer
    static constexpr int kStageBytes = (kRows + kColumns) * kRowBytes;
    static constexpr int kDepth = kRowBytes / sizeof(T);
    // The sums of fp8 keep few bits: those of a stage are added up in FP32.
    static constexpr bool kPromotes = sizeof(T) == 1 && sizeof(Sum) == 4 && Sum(0.5f) != 0;
};

template <class C>
struct Barriers {
    tma::Barrier full[C::kStages], empty[C::kStages];
};

template <class C>
__device__ __forceinline__ void produce(const CUtensorMap& a, const CUtensorMap& b,
                                        Tiles<C::kOrder, C::kCluster> tiles, int steps,
                                        char* stages, Barriers<C>& barriers) {
    if (threadIdx.x != 0) return;
    const bool loads_b = C::kCluster == 1 || cluster_rank() == 0;
    Pipeline at;
    for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
        int row, column;
        tiles.find(tile, row, column);
        for (int step = 0; step < steps; ++step) {
            tma::Barrier& empty = barriers.empty[at.stage];
            if constexpr (C::kOneArrives)
                tma::wait(empty, at.parity ^ 1);
            else
                wait(empty, arrive(empty));
            tma::Barrier& full = barriers.full[at.stage];
            char* const a_tile = stages + at.stage * C::kStageBytes;
            char* const b_tile = a_tile + kRows * kRowBytes;
            tma::arrive_and_expect(full, C::kStageBytes);
            tma::load(a_tile, a, step * C::kDepth, row * kRows, full);
            if constexpr (C::kCluster == 1)
                tma::load(b_tile, b, step * C::kDepth, column * C::kColumns, full);
            else if (loads_b)
                load_multicast(b_tile, b, step * C::kDepth, column * C::kColumns, full,
                               (1 << C::kCluster) - 1);
            at.next(C::kStages);
        }
        if (!C::kPersistent) break;
    }
}

template <class C>
__device__ __forceinline__ void consume(const CUtensorMap& c_map, typename C::Out* c, int lines,
                                        int pitch_c, Tiles<C::kOrder, C::kCluster> tiles, int steps,
                                        char* stages, Barriers<C>& barriers) {
    const int consumer = threadIdx.x / kWarpgroup - 1;
    const bool speaks = threadIdx.x % kWarpgroup == 0;
    const unsigned memory = tma::shared_address(stages);
    if constexpr (!C::kOneArrives)
        for (tma::Barrier& empty : barriers.empty) arrive(empty);
    Pipeline at;
    for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
        int row, column;
        tiles.find(tile, row, column);
        typename C::Sum sum[C::kParts][C::kColumns / 2];
        if constexpr (C::kPromotes) {
#pragma unroll
            for (auto& x : sum[0]) x = 0;
        }
        for (int step = 0; step < steps; ++step) {
            tma::Barrier& full = barriers.full[at.stage];
            if constexpr (C::kOneArrives)
                tma::wait(full, at.parity);
            else
                wait(full, arrive(full));
            const unsigned a_tile =
                memory + at.stage * C::kStageBytes + consumer * C::kParts * 64 * kRowBytes;
            const unsigned b_tile = memory + at.stage * C::kStageBytes + kRows * kRowBytes;
            if constexpr (C::kPromotes) {
                typename C::Sum partial[C::kColumns / 2];
                begin_products();
                multiply_stage<typename C::T, C::kColumns>(partial, a_tile, b_tile, false);
                commit_products();
                wait_for_products<0>();
#pragma unroll
                for (int i = 0; i < C::kColumns / 2; ++i) sum[0][i] += partial[i];
            } else {
                begin_products();
#pragma unroll
                for (int part = 0; part < C::kParts; ++part)
                    multiply_stage<typename C::T, C::kColumns>(
                        sum[part], a_tile + part * 64 * kRowBytes, b_tile, step != 0);
                commit_products();
                wait_for_products<0>();
            }
            tma::Barrier& empty = barriers.empty[at.stage];
            if constexpr (!C::kOneArrives) {
                arrive(empty);
            } else if constexpr (C::kCluster == 1) {
                if (speaks) arrive(empty);
            } else {
                // Whoever loads into this CTA's memory: both.
                if (threadIdx.x % kWarpgroup < C::kCluster)
                    arrive_at(empty, threadIdx.x % kWarpgroup);
            }
            at.next(C::kStages);
        }
#pragma unroll
        for (int part = 0; part < C::kParts; ++part) {
            const int row0 = row * kRows + (consumer * C::kParts + part) * 64;
            if constexpr (C::kStore)
                store_by_tma(sum[part],
                             stages + C::kStages * C::kStageBytes + consumer * 64 * C::kColumns * 2,
                             c_map, row0, column * C::kColumns);
            else if constexpr (sizeof(typename C::Out) == 2)
                store_columns(sum[part], c, row0, column * C::kColumns, lines, pitch_c);
            else
                store_rows(sum[part], c, row0, column * C::kColumns, lines, pitch_c);
        }
        if (!C::kPersistent) break;
    }
    if constexpr (C::kStore) {
        if (speaks) tma::wait_for_stores<0>();
    }
}

// From step 4 on. Block: a warpgroup that loads, then those that compute. C: `lines` of `pitch_c`
// elements, columns of BF16, rows of others.
template <class C>
__device__ __forceinline__ void specialised(const CUtensorMap& a, const CUtensorMap& b,
                                            const CUtensorMap& c_map, typename C::Out* c, int lines,
                                            int pitch_c, int tile_rows, int tile_columns,
                                            int steps) {
    __shared__ Barriers<C> barriers;
    char* const stages = aligned_memory();
    const Tiles<C::kOrder, C::kCluster> tiles{tile_rows, tile_columns};
    constexpr int kComputing = C::kConsumers * kWarpgroup;
    if (threadIdx.x == 0) {
        for (int i = 0; i < C::kStages; ++i) {
            tma::init(barriers.full[i], C::kOneArrives ? 1 : 1 + kComputing);
            tma::init(barriers.empty[i],
                      C::kOneArrives ? C::kConsumers * C::kCluster : 1 + kComputing);
        }
        tma::publish();
    }
    if constexpr (C::kCluster > 1)
        sync_cluster();
    else
        __syncthreads();
    if (threadIdx.x < kWarpgroup) {
        if constexpr (C::kConsumers == 2) give_registers<40>();
        produce<C>(a, b, tiles, steps, stages, barriers);
    } else {
        if constexpr (C::kConsumers == 2) take_registers<232>();
        consume<C>(c_map, c, lines, pitch_c, tiles, steps, stages, barriers);
    }
    if constexpr (C::kCluster > 1) sync_cluster();  // others may still arrive here
}

#define SIMPLE(step, rows, columns)                                                      \
    extern "C" __global__ void __launch_bounds__(kWarpgroup) hgemm_ladder_##step(        \
        const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,    \
        const __grid_constant__ CUtensorMap c_map, __nv_bfloat16* c, int n, int pitch_c, \
        int tile_rows, int tile_columns, int steps) {                                    \
        simple<rows, columns>(a, b, c, n, pitch_c, steps);                               \
    }
SIMPLE(2, 64, 64)
SIMPLE(3, 128, 128)

// columns, warpgroups that compute, stages, order, one arrives, cluster, C by TMA
#define SPECIALISED(name, T, Out, Sum, cluster, consumers, ...)                                  \
    extern "C" __global__ void __cluster_dims__(cluster, 1, 1)                                   \
        __launch_bounds__((1 + consumers) * kWarpgroup, 1)                                       \
            name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,   \
                 const __grid_constant__ CUtensorMap c_map, Out* c, int lines, int pitch_c,      \
                 int tile_rows, int tile_columns, int steps) {                                   \
        specialised<Config<T, Out, Sum, __VA_ARGS__>>(a, b, c_map, c, lines, pitch_c, tile_rows, \
                                                      tile_columns, steps);                      \
    }
#define BF16(step, cluster, consumers, ...)                                                   \
    SPECIALISED(hgemm_ladder_##step, __nv_bfloat16, __nv_bfloat16, float, cluster, consumers, \
                __VA_ARGS__)
BF16(4, 1, 1, 128, 1, 5, Order::kRows, false, 1, false)
BF16(5, 1, 2, 256, 2, 3, Order::kRows, false, 1, false)
BF16(6, 1, 2, 256, 2, 3, Order::kBlocks, false, 1, false)
BF16(7, 1, 2, 256, 2, 3, Order::kBlocks, true, 1, false)
BF16(8, 2, 2, 256, 2, 3, Order::kBlocks, true, 2, false)
BF16(9, 2, 2, 256, 2, 3, Order::kBlocks, true, 2, true)
BF16(10, 2, 2, 256, 2, 3, Order::kHilbert, true, 2, true)
SPECIALISED(fp8gemm_wgmma, E4m3, float, float, 1, 2, 128, 2, 6, Order::kBlocks, true, 1, false)
SPECIALISED(igemm_wgmma, signed char, int, int, 1, 2, 128, 2, 6, Order::kBlocks, true, 1, false)
