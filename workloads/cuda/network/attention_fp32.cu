// SPDX-License-Identifier: Apache-2.0
// Attention in FP32 on CUDA cores. A warp has 8 queries, half of it 4: a lane computes their scores
// with keys lane % 16 and 16 further, and four columns in 64 of the result. Probabilities pass
// through shared memory. Shared memory: real_attention_bytes.
#include "attention.cuh"

using namespace lockstep::kernels;

namespace {

/// Over the 16 lanes of four queries.
template <class F>
__device__ __forceinline__ float over_lanes(float x, F&& f) {
#pragma unroll
    for (int lanes = 1; lanes < 16; lanes *= 2) x = f(x, __shfl_xor_sync(0xffffffffu, x, lanes));
    return x;
}

template <int D>
__device__ __forceinline__ void real_attention(const Attention& p) {
    constexpr int kKeys = kRealKeys, kPitch = D + 4, kRows = 4;
    extern __shared__ __align__(16) float tiles[];
    const int rows = blockDim.x / 32 * kRealQueries, query0 = first_query(p, rows);
    const int x = threadIdx.x % 16, row0 = threadIdx.x / 16 * kRows;
    float* const q_tile = tiles;
    float* const k_tile = q_tile + rows * kPitch;
    float* const v_tile = k_tile + kKeys * kPitch;
    float(*const probability)[kKeys + 4] =
        reinterpret_cast<float(*)[kKeys + 4]>(v_tile + kKeys * kPitch) + row0;
    const float* const q_own = q_tile + row0 * kPitch;
    const AttentionBatch<float> at(p);
    const int end = keys_seen(p, query0, rows);
    at.q.bring<D>(q_tile, kPitch, query0, rows);
    at.k.bring<D>(k_tile, kPitch, 0, kKeys);
    float out[kRows][D / 16] = {}, highest[kRows], sum[kRows] = {};
#pragma unroll
    for (int r = 0; r < kRows; ++r) highest[r] = kLowestScore;
#pragma unroll 1
    for (int key0 = 0; key0 < end; key0 += kKeys) {
        at.v.bring<D>(v_tile, kPitch, key0, kKeys);
        wait_for_copies<1>();
        __syncthreads();  // queries and keys have come
        float score[2 * kRows] = {};
#pragma unroll 4
        for (int d = 0; d < D; d += 4) {
            const float4 k0 = *reinterpret_cast<const float4*>(k_tile + x * kPitch + d);
            const float4 k1 = *reinterpret_cast<const float4*>(k_tile + (x + 16) * kPitch + d);
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                const float4 q = *reinterpret_cast<const float4*>(q_own + r * kPitch + d);
                score[2 * r] += q.x * k0.x;
                score[2 * r + 1] += q.x * k1.x;
                score[2 * r] += q.y * k0.y;
                score[2 * r + 1] += q.y * k1.y;
                score[2 * r] += q.z * k0.z;
                score[2 * r + 1] += q.z * k1.z;
                score[2 * r] += q.w * k0.w;
                score[2 * r + 1] += q.w * k1.w;
            }
        }
        __syncthreads();  // and the keys are no longer needed
        if (key0 + kKeys < end)
            at.k.bring<D>(k_tile, kPitch, key0 + kKeys, kKeys);
        else
            commit_copies();
        scale_and_mask<float>(
            p, at.mask, score, [&](int i) { return query0 + row0 + i / 2; },
            [&](int i) { return key0 + x + i % 2 * 16; });
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const float grown =
                fmaxf(highest[r], over_lanes(fmaxf(score[2 * r], score[2 * r + 1]),
                                             [](float a, float b) { return fmaxf(a, b); }));
            const float shrink = expf(highest[r] - grown);
            const float p0 = expf(score[2 * r] - grown), p1 = expf(score[2 * r + 1] - grown);
            probability[r][x] = p0;
            probability[r][x + 16] = p1;
            sum[r] = sum[r] * shrink + (p0 + p1);
            highest[r] = grown;
#pragma unroll
            for (int c = 0; c < D / 16; ++c) out[r][c] *= shrink;
        }
        wait_for_copies<1>();
        __syncthreads();  // the values have come
#pragma unroll 2
        for (int key = 0; key < kKeys; key += 4) {
            float4 of_row[kRows];
#pragma unroll
            for (int r = 0; r < kRows; ++r)
                of_row[r] = *reinterpret_cast<const float4*>(&probability[r][key]);
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int c = 0; c < D / 64; ++c) {
                    const float4 v = *reinterpret_cast<const float4*>(v_tile + (key + j) * kPitch +
                                                                      64 * c + 4 * x);
#pragma unroll
                    for (int r = 0; r < kRows; ++r) {
                        const float w = reinterpret_cast<const float(&)[4]>(of_row[r])[j];
                        out[r][4 * c] += w * v.x;
                        out[r][4 * c + 1] += w * v.y;
                        out[r][4 * c + 2] += w * v.z;
                        out[r][4 * c + 3] += w * v.w;
                    }
                }
        }
        __syncthreads();
    }
    wait_for_copies<0>();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const int query = query0 + row0 + r;
        const float factor = 1.0f / over_lanes(sum[r], [](float a, float b) { return a + b; });
        if (query >= p.queries) continue;
#pragma unroll
        for (int c = 0; c < D / 64; ++c) {
            const int col = 64 * c + 4 * x;
            float* const to = at.out + query * p.out_row + col * p.out_column;
            float v[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) v[j] = out[r][4 * c + j] * factor;
            if (p.out_vector && col + 3 < p.columns) {
                store_four(to, v);
            } else {
                for (int j = 0; j < 4; ++j)
                    if (col + j < p.columns) to[j * p.out_column] = v[j];
            }
        }
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kAttentionWarps * 32)
    attention_fp32_64(const Attention p) {
    real_attention<64>(p);
}
extern "C" __global__ void __launch_bounds__(kAttentionWarps * 32)
    attention_fp32_128(const Attention p) {
    real_attention<128>(p);
}
