// SPDX-License-Identifier: Apache-2.0
// Attention on Tensor Cores. A warp has 16 queries; scores and probabilities stay in its registers:
// the layout of a product's sums is that of the next product's left operand. A tile of values comes
// while scores are computed, the next keys while values are added up. D: columns of a row, 64 or
// 128. Shared memory: tensor_attention_bytes.
#pragma once

#include "attention.cuh"
#include "product_tensor.cuh"

namespace lockstep::kernels {

__device__ __forceinline__ unsigned pack_pair(float low, float high, __half) {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const unsigned&>(pair);
}
__device__ __forceinline__ unsigned pack_pair(float low, float high, __nv_bfloat16) {
    return pack_bf16(low, high);
}

/// The i-th fragment of sums.
template <int N>
__device__ __forceinline__ float (&four(float (&x)[N], int i))[4] {
    return reinterpret_cast<float(&)[4]>(x[4 * i]);
}

/// Of a row, which lies in four neighbouring lanes.
__device__ __forceinline__ float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ __forceinline__ float quad_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

/// 2^x for x <= 0; what is too small for a normal number is 0.
__device__ __forceinline__ float power_of_two(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/// What a warp knows of its 16 queries: each thread of rows lane / 4 and 8 below.
template <class Kind, int D>
struct WarpAttention {
    using T = typename Kind::Element;
    static constexpr int kPitch = D + 8, kKeys = kTensorKeys;

    unsigned q[D / 16][4];
    float out[D / 8][4] = {};
    float highest[2] = {kLowestScore, kLowestScore}, sum[2] = {};

    __device__ __forceinline__ void take_queries(const T* tile) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < D / 16; ++i)
            load_matrix_x4(q[i], tile + lane % 16 * kPitch + 16 * i + lane / 16 * 8);
    }

    __device__ __forceinline__ void find_scores(float (&score)[kKeys / 2], const T* k) const {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < kKeys / 16; ++i)
#pragma unroll
            for (int depth = 0; depth < D / 16; ++depth) {
                unsigned part[4];
                load_matrix_x4(part, k + (16 * i + lane / 16 * 8 + lane % 8) * kPitch + 16 * depth +
                                         lane / 8 % 2 * 8);
                Kind::multiply(four(score, 2 * i), q[depth], part[0], part[1]);
                Kind::multiply(four(score, 2 * i + 1), q[depth], part[2], part[3]);
            }
    }

    /// Scores become probabilities relative to the highest so far.
    __device__ __forceinline__ void soften(float (&score)[kKeys / 2]) {
        constexpr float kLog2e = 1.4426950408889634f;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float grown = highest[half];
#pragma unroll
            for (int i = 0; i < kKeys / 4; ++i)
                grown = fmaxf(grown, score[i / 2 * 4 + 2 * half + i % 2]);
            grown = quad_max(grown);
            const float shrink = power_of_two((highest[half] - grown) * kLog2e);
            float added = 0.0f;
#pragma unroll
            for (int i = 0; i < kKeys / 4; ++i) {
                float& s = score[i / 2 * 4 + 2 * half + i % 2];
                s = power_of_two((s - grown) * kLog2e);
                added += s;
            }
            sum[half] = sum[half] * shrink + added;
            highest[half] = grown;
#pragma unroll
            for (int i = 0; i < D / 8; ++i) {
                out[i][2 * half] *= shrink;
                out[i][2 * half + 1] *= shrink;
            }
        }
    }

    __device__ __forceinline__ void add_values(float (&p)[kKeys / 2], const T* v) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < kKeys / 16; ++i) {
            const float(&low)[4] = four(p, 2 * i);
            const float(&high)[4] = four(p, 2 * i + 1);
            const unsigned part[4] = {
                pack_pair(low[0], low[1], T()), pack_pair(low[2], low[3], T()),
                pack_pair(high[0], high[1], T()), pack_pair(high[2], high[3], T())};
#pragma unroll
            for (int col = 0; col < D / 16; ++col) {
                unsigned values[4];
                load_matrix_x4_transposed(
                    values, v + (16 * i + lane % 16) * kPitch + 16 * col + lane / 16 * 8);
                Kind::multiply(out[2 * col], part, values[0], values[1]);
                Kind::multiply(out[2 * col + 1], part, values[2], values[3]);
            }
        }
    }

    /// The result's rows as the kernel's type.
    __device__ __forceinline__ void give(T* tile) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float factor = 1.0f / quad_sum(sum[half]);
            T* const row = tile + (lane / 4 + 8 * half) * kPitch + lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < D / 8; ++i)
                *reinterpret_cast<unsigned*>(row + 8 * i) =
                    pack_pair(out[i][2 * half] * factor, out[i][2 * half + 1] * factor, T());
        }
    }
};

template <class Kind, int D>
__device__ __forceinline__ void tensor_attention(const Attention& p) {
    using T = typename Kind::Element;
    using Warp = WarpAttention<Kind, D>;
    constexpr int kKeys = Warp::kKeys, kPitch = Warp::kPitch;
    extern __shared__ __align__(16) unsigned char shared[];
    const int rows = blockDim.x / 32 * kTensorQueries, query0 = first_query(p, rows);
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * kTensorQueries;
    T* const q_tile = reinterpret_cast<T*>(shared);
    T* const k_tile = q_tile + rows * kPitch;
    T* const v_tile = k_tile + kKeys * kPitch;
    T* const own = q_tile + warp_row * kPitch;
    const AttentionBatch<T> at(p);
    const int end = keys_seen(p, query0, rows);
    at.q.template bring<D>(q_tile, kPitch, query0, rows);
    at.k.template bring<D>(k_tile, kPitch, 0, kKeys);
    Warp warp;
    wait_for_copies<1>();
    __syncthreads();
    warp.take_queries(own);
#pragma unroll 1
    for (int key0 = 0; key0 < end; key0 += kKeys) {
        at.v.template bring<D>(v_tile, kPitch, key0, kKeys);
        wait_for_copies<1>();
        __syncthreads();  // the keys have come
        float score[kKeys / 2] = {};
        warp.find_scores(score, k_tile);
        __syncthreads();  // and are no longer needed
        if (key0 + kKeys < end)
            at.k.template bring<D>(k_tile, kPitch, key0 + kKeys, kKeys);
        else
            commit_copies();
        const int query = query0 + warp_row + lane / 4;
        scale_and_mask<T>(
            p, at.mask, score, [&](int i) { return query + i % 4 / 2 * 8; },
            [&](int i) { return key0 + i / 4 * 8 + lane % 4 * 2 + i % 2; });
        warp.soften(score);
        wait_for_copies<1>();
        __syncthreads();  // the values have come
        warp.add_values(score, v_tile);
        __syncthreads();
    }
    wait_for_copies<0>();
    warp.give(own);
    __syncwarp();
    for (int i = lane; i < kTensorQueries * (D / 8); i += 32) {
        const int row = i / (D / 8), col = i % (D / 8) * 8, query = query0 + warp_row + row;
        if (query >= p.queries || col >= p.columns) continue;
        const T* const from = own + row * kPitch + col;
        T* const to = at.out + query * p.out_row + col * p.out_column;
        if (p.out_vector) {
            *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
        } else {
            for (int j = 0; j < 8 && col + j < p.columns; ++j) to[j * p.out_column] = from[j];
        }
    }
}

#define ATTENTION_KERNELS(name, Kind)                                     \
    extern "C" __global__ void __launch_bounds__(kAttentionWarps * 32, 4) \
        name##_64(const Attention p) {                                    \
        tensor_attention<Kind, 64>(p);                                    \
    }                                                                     \
    extern "C" __global__ void __launch_bounds__(kAttentionWarps * 32)    \
        name##_128(const Attention p) {                                   \
        tensor_attention<Kind, 128>(p);                                   \
    }

}  // namespace lockstep::kernels
