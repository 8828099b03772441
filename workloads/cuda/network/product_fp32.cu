// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions (implicit GEMM: the rows of the columns' matrix are found where
// they are read) in FP32 on CUDA cores: a tile in shared memory while the next one is on its way to
// registers, blocks of sums in registers. Block: threads of the tile; grid: (tiles of n, tiles of
// m, splits * batches).
#include "product.cuh"

using namespace lockstep::kernels;

/// Elements of one operand for a thread: fours along k, or single elements of one row.
template <int Rows, int Depth, int Threads>
struct Fetch {
    static constexpr int kElements = Rows * Depth / Threads, kFours = kElements / 4;
    static constexpr int kChunks = Depth / 4;  ///< of a row
    static_assert(kFours * 4 == kElements && Threads % Rows == 0);

    float value[kElements];

    __device__ __forceinline__ static int row_of_four(int i) {
        return threadIdx.x / kChunks + i * (Threads / kChunks);
    }
    __device__ __forceinline__ static int k_of_four() { return threadIdx.x % kChunks * 4; }
    __device__ __forceinline__ static int row_of_single() { return threadIdx.x % Rows; }
    __device__ __forceinline__ static int k_of_single(int i) {
        return threadIdx.x / Rows + i * (Threads / Rows);
    }

    template <int Pitch>
    __device__ __forceinline__ void put(float (&tile)[Depth][Pitch], bool vector) const {
        if (vector) {
#pragma unroll
            for (int i = 0; i < kFours; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    tile[k_of_four() + j][row_of_four(i)] = value[4 * i + j];
        } else {
#pragma unroll
            for (int i = 0; i < kElements; ++i) tile[k_of_single(i)][row_of_single()] = value[i];
        }
    }
};

template <int M, int N, int Depth, int TM, int TN>
__device__ __forceinline__ void product(const Product& p) {
    constexpr int kThreads = (M / TM) * (N / TN), kPitchM = M + 4, kPitchN = N + 4;
    constexpr int kSlab = M / (TM / 4);  // rows of sums that lie in shared memory at a time
    union Shared {
        struct {
            float a[Depth][kPitchM], b[Depth][kPitchN];
        } tile[2];
        float sums[kSlab][kPitchN];
    };
    __shared__ __align__(16) Shared shared;
    const int batches = gridDim.z / p.splits;
    const int split = blockIdx.z / batches, batch = blockIdx.z - split * batches;
    const Batch at(p, batch);
    const float* const a = static_cast<const float*>(p.a) + at.offset(p.a_batch);
    const float* const b = static_cast<const float*>(p.b) + at.offset(p.b_batch);
    const int row0 = blockIdx.y * M, column0 = blockIdx.x * N;
    const int k_begin = split * p.split_k, k_end = min(p.k, k_begin + p.split_k);
    const bool a_vector = p.a_vector != 0, b_vector = p.b_vector != 0;

    Fetch<M, Depth, kThreads> fetch_a;
    Fetch<N, Depth, kThreads> fetch_b;
    constexpr int kRowsA = fetch_a.kFours;
    WindowRow rows[kRowsA];
#pragma unroll
    for (int i = 0; i < kRowsA; ++i)
        rows[i].set(p, row0 + (a_vector ? fetch_a.row_of_four(i) : fetch_a.row_of_single()));

    const auto fetch = [&](int k0) {
        if (a_vector) {
            const int k = k0 + fetch_a.k_of_four();
            const Tap tap(p, k);
            const int offset = tap.in_a(p);
#pragma unroll
            for (int i = 0; i < kRowsA; ++i) {
                float4 v = make_float4(0, 0, 0, 0);
                if (k < k_end && tap.hits(p, rows[i]))
                    v = *reinterpret_cast<const float4*>(a + rows[i].offset + offset);
                fetch_a.value[4 * i] = v.x, fetch_a.value[4 * i + 1] = v.y;
                fetch_a.value[4 * i + 2] = v.z, fetch_a.value[4 * i + 3] = v.w;
            }
        } else {
#pragma unroll
            for (int i = 0; i < fetch_a.kElements; ++i) {
                const int k = k0 + fetch_a.k_of_single(i);
                const Tap tap(p, k);
                const bool hit = k < k_end && tap.hits(p, rows[0]);
                fetch_a.value[i] = hit ? a[rows[0].offset + tap.in_a(p)] : 0.0f;
            }
        }
        if (b_vector) {
            const int k = k0 + fetch_b.k_of_four();
            const int offset = Tap(p, k).in_b(p);
#pragma unroll
            for (int i = 0; i < fetch_b.kFours; ++i) {
                const int column = column0 + fetch_b.row_of_four(i);
                float4 v = make_float4(0, 0, 0, 0);
                if (k < k_end && column < p.n)
                    v = *reinterpret_cast<const float4*>(b + column * p.b_n + offset);
                fetch_b.value[4 * i] = v.x, fetch_b.value[4 * i + 1] = v.y;
                fetch_b.value[4 * i + 2] = v.z, fetch_b.value[4 * i + 3] = v.w;
            }
        } else {
            const int column = column0 + fetch_b.row_of_single();
#pragma unroll
            for (int i = 0; i < fetch_b.kElements; ++i) {
                const int k = k0 + fetch_b.k_of_single(i);
                const bool hit = k < k_end && column < p.n;
                fetch_b.value[i] = hit ? b[column * p.b_n + Tap(p, k).in_b(p)] : 0.0f;
            }
        }
    };

    const int ty = threadIdx.x / (N / TN) * 4, tx = threadIdx.x % (N / TN) * 4;
    float sum[TM][TN] = {};
    const int steps = (k_end - k_begin + Depth - 1) / Depth;
    // The first step only fetches: that way the code that does is there once.
    for (int step = -1; step < steps; ++step) {
        const auto& tile = shared.tile[step & 1];
        const bool more = step + 1 < steps;
        if (more) fetch(k_begin + (step + 1) * Depth);
        if (step >= 0) {
#pragma unroll
            for (int i = 0; i < Depth; ++i) {
                float a_part[TM], b_part[TN];
#pragma unroll
                for (int j = 0; j < TM; j += 4)
                    *reinterpret_cast<float4*>(a_part + j) =
                        *reinterpret_cast<const float4*>(&tile.a[i][ty + j / 4 * kSlab]);
#pragma unroll
                for (int j = 0; j < TN; j += 4)
                    *reinterpret_cast<float4*>(b_part + j) =
                        *reinterpret_cast<const float4*>(&tile.b[i][tx + j / 4 * (N / (TN / 4))]);
#pragma unroll
                for (int y = 0; y < TM; ++y)
#pragma unroll
                    for (int x = 0; x < TN; ++x) sum[y][x] += a_part[y] * b_part[x];
            }
        }
        if (more) {
            fetch_a.put(shared.tile[(step + 1) & 1].a, a_vector);
            fetch_b.put(shared.tile[(step + 1) & 1].b, b_vector);
        }
        __syncthreads();
    }
#pragma unroll
    for (int slab = 0; slab < TM / 4; ++slab) {
        if (slab > 0) __syncthreads();
#pragma unroll
        for (int y = 0; y < 4; ++y)
#pragma unroll
            for (int x = 0; x < TN; x += 4)
                *reinterpret_cast<float4*>(&shared.sums[ty + y][tx + x / 4 * (N / (TN / 4))]) =
                    *reinterpret_cast<const float4*>(&sum[4 * slab + y][x]);
        __syncthreads();
        put_tile<float, kSlab, N, kThreads>(p, shared.sums, column0, batch, at,
                                            [&](int row) { return row0 + slab * kSlab + row; });
    }
}

extern "C" __global__ void __launch_bounds__(kLargeTile.threads)
    product_fp32_large(const Product p) {
    product<kLargeTile.m, kLargeTile.n, kLargeDepth, 8, 8>(p);
}

extern "C" __global__ void __launch_bounds__(kSmallTile.threads)
    product_fp32_small(const Product p) {
    product<kSmallTile.m, kSmallTile.n, kSmallDepth, 8, 4>(p);
}
