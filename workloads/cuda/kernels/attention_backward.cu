// SPDX-License-Identifier: Apache-2.0
// Gradients of attention from q, k, v, dout and what the forward kernel kept (lse): probabilities
// are recomputed, no score matrix is stored (arXiv 2205.14135, algorithm 4). Three launches:
// attention_delta, attention_backward_queries, attention_backward_keys_values. d <= 128. Block: 128
// threads, one warp for each row; grid: (ceil(seq/4), heads).
#include "block_reduce.cuh"

__device__ __forceinline__ float dot(const float* a, const float* b, int d) {
    float sum = 0.0f;
    for (int i = 0; i < d; ++i) sum += a[i] * b[i];
    return sum;
}

// delta[heads][seq] = the dot product of each row of out and dout.
extern "C" __global__ void __launch_bounds__(128)
    attention_delta(const float* out, const float* dout, float* delta, int heads, int seq, int d) {
    const int query = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (query >= seq) return;
    const size_t row = ((size_t)blockIdx.y * seq + query) * d;
    float sum = 0.0f;
    for (int i = lane; i < d; i += 32) sum += out[row + i] * dout[row + i];
    sum = warp_reduce(sum, Sum());
    if (lane == 0) delta[(size_t)blockIdx.y * seq + query] = sum;
}

// dq = sum over keys of ds * k * scale, ds = p * (dout . v - delta). Lane l takes key key0 + l to
// find ds, then element l, l + 32, ... of the row to add up.
extern "C" __global__ void __launch_bounds__(128)
    attention_backward_queries(const float* q, const float* k, const float* v, const float* dout,
                               const float* lse, const float* delta, float* dq, int heads, int seq,
                               int d, int causal, float scale) {
    const int query = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (query >= seq) return;
    const size_t first = (size_t)blockIdx.y * seq, row = (first + query) * d;
    float acc[4] = {};
    for (int key0 = 0; key0 < (causal ? query + 1 : seq); key0 += 32) {
        const int key = key0 + lane;
        float ds = 0.0f;
        if (key < seq && !(causal && key > query)) {
            const size_t at = (first + key) * d;
            const float p = expf(dot(q + row, k + at, d) * scale - lse[first + query]);
            ds = p * (dot(dout + row, v + at, d) - delta[first + query]) * scale;
        }
        for (int j = 0; j < 32 && key0 + j < seq; ++j) {
            const float weight = __shfl_sync(0xffffffffu, ds, j);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int col = lane + 32 * i;
                if (col < d) acc[i] += weight * k[(first + key0 + j) * d + col];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (lane + 32 * i < d) dq[row + lane + 32 * i] = acc[i];
    }
}

// dk = sum over queries of ds * q * scale, dv = sum of p * dout.
extern "C" __global__ void __launch_bounds__(128)
    attention_backward_keys_values(const float* q, const float* k, const float* v,
                                   const float* dout, const float* lse, const float* delta,
                                   float* dk, float* dv, int heads, int seq, int d, int causal,
                                   float scale) {
    const int key = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (key >= seq) return;
    const size_t first = (size_t)blockIdx.y * seq, row = (first + key) * d;
    float dk_acc[4] = {}, dv_acc[4] = {};
    for (int query0 = causal ? key / 32 * 32 : 0; query0 < seq; query0 += 32) {
        const int query = query0 + lane;
        float p = 0.0f, ds = 0.0f;
        if (query < seq && !(causal && key > query)) {
            const size_t at = (first + query) * d;
            p = expf(dot(q + at, k + row, d) * scale - lse[first + query]);
            ds = p * (dot(dout + at, v + row, d) - delta[first + query]) * scale;
        }
        for (int j = 0; j < 32 && query0 + j < seq; ++j) {
            const float p_j = __shfl_sync(0xffffffffu, p, j);
            const float ds_j = __shfl_sync(0xffffffffu, ds, j);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int col = lane + 32 * i;
                if (col < d) {
                    dk_acc[i] += ds_j * q[(first + query0 + j) * d + col];
                    dv_acc[i] += p_j * dout[(first + query0 + j) * d + col];
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (lane + 32 * i < d) {
            dk[row + lane + 32 * i] = dk_acc[i];
            dv[row + lane + 32 * i] = dv_acc[i];
        }
    }
}
