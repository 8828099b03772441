// SPDX-License-Identifier: Apache-2.0
// What attention has in common on Tensor Cores and on CUDA cores. Scores and probabilities never
// leave the SM (FlashAttention-2, arXiv 2307.08691): keys pass by in tiles, and sums are corrected
// when a larger score is found. Block: 32 to 128 threads; grid: (tiles of queries, batches).
#pragma once

#include "../kernels/async_copy.cuh"
#include "product.cuh"

namespace lockstep::kernels {

constexpr float kLowestScore = -3.402823466e38f;

/// An operand as rows of a matrix, at its batch.
template <class T>
struct Matrix {
    const T* data;
    int rows, columns, row, column;
    bool vector;

    /// Rows row0... of it into a tile of rows of D columns, zeros outside. A block has a multiple
    /// of the threads that copy a row.
    template <int D>
    __device__ __forceinline__ void bring(T* tile, int pitch, int row0, int tile_rows) const {
        constexpr int kWide = 16 / static_cast<int>(sizeof(T));
        const int count = tile_rows * (D / kWide);
        if (vector) {
            const int c = threadIdx.x % (D / kWide) * kWide;
            const T* const from = data + c;
#pragma unroll 4
            for (int i = threadIdx.x; i < count; i += blockDim.x) {
                const int r = i / (D / kWide);
                const bool some = row0 + r < rows && c < columns;
                copy_async<16>(tile + r * pitch + c, some ? from + (row0 + r) * row : data, some);
            }
        } else {
#pragma unroll 1
            for (int i = threadIdx.x; i < count; i += blockDim.x) {
                const int r = i / (D / kWide), c = i % (D / kWide) * kWide;
                const T* const from = data + (row0 + r) * row;
#pragma unroll
                for (int j = 0; j < kWide; ++j)
                    tile[r * pitch + c + j] = row0 + r < rows && c + j < columns
                                                  ? from[(c + j) * column]
                                                  : from_float<T>(0.0f);
            }
        }
        commit_copies();
    }
};

template <class T>
struct AttentionBatch {
    Matrix<T> q, k, v;
    T* out;
    const void* mask;
    __device__ __forceinline__ explicit AttentionBatch(const Attention& p) {
        const Batch at(p, blockIdx.y);
        q = {static_cast<const T*>(p.q) + at.offset(p.q_batch),
             p.queries,
             p.depth,
             p.q_row,
             p.q_column,
             p.q_vector != 0};
        k = {static_cast<const T*>(p.k) + at.offset(p.k_batch),
             p.keys,
             p.depth,
             p.k_row,
             p.k_column,
             p.k_vector != 0};
        v = {static_cast<const T*>(p.v) + at.offset(p.v_batch),
             p.keys,
             p.columns,
             p.v_row,
             p.v_column,
             p.v_vector != 0};
        out = static_cast<T*>(p.out) + at.offset(p.out_batch);
        mask =
            p.masked == AttentionMask::kAdded
                ? static_cast<const void*>(static_cast<const T*>(p.mask) + at.offset(p.mask_batch))
                : static_cast<const bool*>(p.mask) + at.offset(p.mask_batch);
    }
};

/// The first query of the block; those that see most come first.
__device__ __forceinline__ int first_query(const Attention& p, int rows) {
    return (p.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * rows;
}

/// Keys that some of `rows` queries from query0 on sees.
__device__ __forceinline__ int keys_seen(const Attention& p, int query0, int rows) {
    return p.causal ? min(p.keys, query0 + rows + p.ahead) : p.keys;
}

/// One more than the last key that a query sees.
__device__ __forceinline__ int end_of(const Attention& p, int query) {
    return p.causal ? min(p.keys, query + p.ahead + 1) : p.keys;
}

/// Scores as softmax takes them; query(i) and key(i) are of score i.
template <class T, int N, class Query, class Key>
__device__ __forceinline__ void scale_and_mask(const Attention& p, const void* mask,
                                               float (&score)[N], Query&& query, Key&& key) {
#pragma unroll
    for (int i = 0; i < N; ++i)
        score[i] = key(i) < end_of(p, query(i)) ? score[i] * p.scale : -INFINITY;
    if (p.masked == AttentionMask::kNone) return;
    // Outside, the last one stands in.
    const auto place = [&](int i) {
        return min(query(i), p.queries - 1) * p.mask_row + min(key(i), p.keys - 1) * p.mask_column;
    };
    if (p.masked == AttentionMask::kAdded) {
#pragma unroll
        for (int i = 0; i < N; ++i) score[i] += to_float(static_cast<const T*>(mask)[place(i)]);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const bool hides = (static_cast<const bool*>(mask)[place(i)] ? 1 : 0) == p.hides;
        score[i] = hides && key(i) < p.keys ? p.hidden : score[i];
    }
}

}  // namespace lockstep::kernels
