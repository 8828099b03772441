// SPDX-License-Identifier: Apache-2.0
// Attention without the score matrix (FlashAttention, arXiv 2205.14135): keys and values pass by in
// tiles of 32; each query keeps a running maximum and sum, and rescales what it has when the maximum
// grows. out [heads][seq][d]; lse[heads][seq], the log of the sum of exp(scores), is for the
// backward kernels. d <= 128. Block: 128 threads, four warps of four queries; grid: (ceil(seq/16),
// heads); dynamic shared memory: 80 * (d + 1) * 4 bytes.
#include "block_reduce.cuh"

constexpr int kQueries = 16, kKeys = 32, kRows = 4;

extern "C" __global__ void __launch_bounds__(128)
    attention_flash(const float* q, const float* k, const float* v, float* out, float* lse,
                    int heads, int seq, int d, int causal, float scale) {
    extern __shared__ float shared[];
    const int pitch = d + 1;  // a lane reads its own key's row: the odd pitch spreads the banks
    float* q_tile = shared;
    float* k_tile = q_tile + kQueries * pitch;
    float* v_tile = k_tile + kKeys * pitch;
    const size_t head = (size_t)blockIdx.y * seq * d;
    const int query0 = blockIdx.x * kQueries;
    const int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * kRows;
    for (int i = threadIdx.x; i < kQueries * d; i += 128) {
        const int row = i / d, col = i % d;
        q_tile[row * pitch + col] =
            query0 + row < seq ? q[head + (size_t)(query0 + row) * d + col] * scale : 0.0f;
    }
    float best[kRows], sum[kRows] = {}, acc[kRows][4] = {};
    for (int r = 0; r < kRows; ++r) best[r] = Max::kIdentity;
    const int end = causal ? min(seq, query0 + kQueries) : seq;
    for (int key0 = 0; key0 < end; key0 += kKeys) {
        __syncthreads();
        for (int i = threadIdx.x; i < kKeys * d; i += 128) {
            const int row = i / d, col = i % d;
            const bool inside = key0 + row < seq;
            const size_t at = head + (size_t)(key0 + row) * d + col;
            k_tile[row * pitch + col] = inside ? k[at] : 0.0f;
            v_tile[row * pitch + col] = inside ? v[at] : 0.0f;
        }
        __syncthreads();
        // Lane l scores key key0 + l for the warp's queries.
        float p[kRows] = {};
        for (int i = 0; i < d; ++i) {
            const float key = k_tile[lane * pitch + i];
#pragma unroll
            for (int r = 0; r < kRows; ++r) p[r] += q_tile[(row0 + r) * pitch + i] * key;
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const bool seen = key0 + lane < seq && !(causal && key0 + lane > query0 + row0 + r);
            const float score = seen ? p[r] : Max::kIdentity;
            const float grown = fmaxf(best[r], warp_reduce(score, Max()));
            const float shrink = expf(best[r] - grown);
            p[r] = seen ? expf(score - grown) : 0.0f;
            sum[r] = sum[r] * shrink + warp_reduce(p[r], Sum());
            best[r] = grown;
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[r][i] *= shrink;
        }
        // Lane l gathers output elements l, l + 32, ...
        for (int key = 0; key < kKeys; ++key) {
            float weight[kRows];
#pragma unroll
            for (int r = 0; r < kRows; ++r) weight[r] = __shfl_sync(0xffffffffu, p[r], key);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if (lane + 32 * i < d) {
                    const float value = v_tile[key * pitch + lane + 32 * i];
#pragma unroll
                    for (int r = 0; r < kRows; ++r) acc[r][i] += weight[r] * value;
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const int query = query0 + row0 + r;
        if (query >= seq) continue;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (lane + 32 * i < d) {
                out[head + (size_t)query * d + lane + 32 * i] = acc[r][i] / sum[r];
            }
        }
        if (lane == 0) lse[(size_t)blockIdx.y * seq + query] = best[r] + logf(sum[r]);
    }
}
