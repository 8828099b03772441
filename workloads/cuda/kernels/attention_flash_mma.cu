// SPDX-License-Identifier: Apache-2.0
// Flash attention on Tensor Cores (FlashAttention-2, arXiv 2307.08691): q, k, v [heads][seq][d] in
// FP16, out in FP32. A warp holds 16 queries; scores and probabilities never leave its registers:
// the layout of a product's sums is that of the next product's left operand. One kernel for
// d <= 64, one for d <= 128. Block: 128 threads; grid: (ceil(seq/64), heads).
#include <cuda_fp16.h>

#include "async_copy.cuh"
#include "matrix_instructions.cuh"

constexpr int kQueries = 64, kKeys = 32, kPad = 8;
constexpr float kLowest = -3.402823466e38f;

// Rows row0.. of x[seq][d] into a tile of kRows rows of D columns; zeros outside.
template <int D, int kRows>
__device__ __forceinline__ void load_tile(__half (&tile)[kRows][D + kPad], const __half* x,
                                          int row0, int seq, int d) {
    for (int i = threadIdx.x; i < kRows * D / 8; i += 128) {
        const int row = i / (D / 8), col = i % (D / 8) * 8;
        const __half* from = x + (size_t)(row0 + row) * d + col;
        if (d % 8 == 0) {
            const bool valid = row0 + row < seq && col < d;
            copy_async<16>(&tile[row][col], valid ? from : x, valid);
        } else {
            for (int j = 0; j < 8; ++j) {
                tile[row][col + j] = row0 + row < seq && col + j < d ? from[j] : __half(0.0f);
            }
        }
    }
    commit_copies();
}

// The two rows that a thread has a part of (lane / 4 and 8 below) lie in four neighbouring lanes.
__device__ __forceinline__ float row_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ __forceinline__ float row_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

__device__ __forceinline__ unsigned pack(float low, float high) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&pair);
}

template <int D>
__device__ __forceinline__ void attention(const __half* q, const __half* k, const __half* v,
                                          float* out, int seq, int d, int causal, float scale) {
    __shared__ __align__(16) __half q_tile[kQueries][D + kPad];
    __shared__ __align__(16) __half k_tile[kKeys][D + kPad];
    __shared__ __align__(16) __half v_tile[kKeys][D + kPad];
    const size_t head = (size_t)blockIdx.y * seq * d;
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16;
    const int query0 = blockIdx.x * kQueries;
    load_tile<D>(q_tile, q + head, query0, seq, d);
    wait_for_copies<0>();
    __syncthreads();
    unsigned q_part[D / 16][4];
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
        load_matrix_x4(q_part[i], &q_tile[warp_row + lane % 16][16 * i + lane / 16 * 8]);
    }
    float acc[D / 8][4] = {}, best[2] = {kLowest, kLowest}, sum[2] = {};
    const int end = causal ? min(seq, query0 + kQueries) : seq;
    for (int key0 = 0; key0 < end; key0 += kKeys) {
        __syncthreads();
        load_tile<D>(k_tile, k + head, key0, seq, d);
        load_tile<D>(v_tile, v + head, key0, seq, d);
        wait_for_copies<0>();
        __syncthreads();
        float score[kKeys / 8][4] = {};
#pragma unroll
        for (int depth = 0; depth < D / 16; ++depth) {
#pragma unroll
            for (int i = 0; i < kKeys / 16; ++i) {
                unsigned k_part[4];
                load_matrix_x4(k_part, &k_tile[16 * i + lane / 16 * 8 + lane % 8]
                                              [16 * depth + lane / 8 % 2 * 8]);
                mma_f16(score[2 * i], q_part[depth], k_part[0], k_part[1]);
                mma_f16(score[2 * i + 1], q_part[depth], k_part[2], k_part[3]);
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int query = query0 + warp_row + lane / 4 + 8 * half;
            float grown = best[half];
#pragma unroll
            for (int i = 0; i < kKeys / 4; ++i) {
                const int key = key0 + i / 2 * 8 + lane % 4 * 2 + i % 2;
                float& s = score[i / 2][2 * half + i % 2];
                s = key < seq && !(causal && key > query) ? s * scale : kLowest;
                grown = fmaxf(grown, s);
            }
            grown = row_max(grown);
            const float shrink = expf(best[half] - grown);
            float added = 0.0f;
#pragma unroll
            for (int i = 0; i < kKeys / 4; ++i) {
                float& s = score[i / 2][2 * half + i % 2];
                s = s == kLowest ? 0.0f : expf(s - grown);
                added += s;
            }
            sum[half] = sum[half] * shrink + row_sum(added);
            best[half] = grown;
#pragma unroll
            for (int i = 0; i < D / 8; ++i) {
                acc[i][2 * half] *= shrink;
                acc[i][2 * half + 1] *= shrink;
            }
        }
#pragma unroll
        for (int i = 0; i < kKeys / 16; ++i) {
            const float(&low)[4] = score[2 * i];
            const float(&high)[4] = score[2 * i + 1];
            const unsigned p_part[4] = {pack(low[0], low[1]), pack(low[2], low[3]),
                                        pack(high[0], high[1]), pack(high[2], high[3])};
#pragma unroll
            for (int col = 0; col < D / 16; ++col) {
                unsigned v_part[4];
                load_matrix_x4_transposed(v_part,
                                          &v_tile[16 * i + lane % 16][16 * col + lane / 16 * 8]);
                mma_f16(acc[2 * col], p_part, v_part[0], v_part[1]);
                mma_f16(acc[2 * col + 1], p_part, v_part[2], v_part[3]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < D / 8; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int query = query0 + warp_row + lane / 4 + j / 2 * 8;
            const int col = 8 * i + lane % 4 * 2 + j % 2;
            if (query < seq && col < d) out[head + (size_t)query * d + col] = acc[i][j] / sum[j / 2];
        }
    }
}

extern "C" __global__ void __launch_bounds__(128)
    attention_flash_mma_64(const __half* q, const __half* k, const __half* v, float* out, int heads,
                           int seq, int d, int causal, float scale) {
    attention<64>(q, k, v, out, seq, d, causal, scale);
}

extern "C" __global__ void __launch_bounds__(128)
    attention_flash_mma_128(const __half* q, const __half* k, const __half* v, float* out,
                            int heads, int seq, int d, int causal, float scale) {
    attention<128>(q, k, v, out, seq, d, causal, scale);
}
