// SPDX-License-Identifier: Apache-2.0
// Attention forward as FlashAttention-3 does it (arXiv 2407.08608): one warpgroup loads tiles of
// keys and values by TMA, two compute 64 queries each. The scores of the next keys are computed
// while the values of the previous ones are added up, and the two warpgroups take turns, so that
// one's softmax runs beside the other's products. q, k, v [heads][seq][d] in FP16, out in FP32; d
// is a multiple of 8. One kernel for d <= 64, one for d <= 128. Block: 384 threads; grid: (ceil(seq
// / 128), heads); shared memory: 128 * D * 2 * (1 + 4) bytes and 1024 to align.
#include "ladder.cuh"

using ladder::kRowBytes;
using ladder::kWarpgroup;

constexpr int kQueries = 128, kKeys = 128, kStages = 2;
constexpr int kBlockBytes = 128 * kRowBytes;  // of 64 columns of a tile
constexpr int kRegisters = kKeys / 2;         // scores of a thread
constexpr float kLowest = -3.402823466e38f;

// scores (64 x 128) = q (64 x 16 a time) * k^T, both along d.
struct ScoreProduct {
    __device__ __forceinline__ static void run(float (&sum)[64], unsigned long long a,
                                               unsigned long long b, int scale) {
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_64
            "}, %64, %65, p, 1, 1, 0, 0;\n}"
            : LIST_32("+f", 0), LIST_32("+f", 32)
            : "l"(a), "l"(b), "r"(scale));
    }
};

// sum (64 x D) += p (64 x 16, in registers) * v (16 x D, rows along d).
template <int D>
struct ValueProduct;
template <>
struct ValueProduct<64> {
    __device__ __forceinline__ static void run(float (&sum)[32], const unsigned* a,
                                               unsigned long long b) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" NAMES_32
                     "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                     : LIST_32("+f", 0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    }
};
template <>
struct ValueProduct<128> {
    __device__ __forceinline__ static void run(float (&sum)[64], const unsigned* a,
                                               unsigned long long b) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_64
                     "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                     : LIST_32("+f", 0), LIST_32("+f", 32)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    }
};

// Three coordinates: column, row, head.
__device__ __forceinline__ void load(char* tile, const CUtensorMap& matrix, int x, int y, int z,
                                     tma::Barrier& barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4, %5}], [%2];" ::"r"(tma::shared_address(tile)),
        "l"(&matrix), "r"(tma::shared_address(&barrier)), "r"(x), "r"(y), "r"(z)
        : "memory");
}
template <int D>
__device__ __forceinline__ void load_tile(char* tile, const CUtensorMap& matrix, int row, int head,
                                          tma::Barrier& barrier) {
    tma::arrive_and_expect(barrier, D / 64 * kBlockBytes);
    for (int block = 0; block < D / 64; ++block)
        load(tile + block * kBlockBytes, matrix, block * 64, row, head, barrier);
}

struct Barriers {
    tma::Barrier queries, keys[kStages], values[kStages], keys_free[kStages], values_free[kStages];
};

// The two rows that a thread has a part of lie in four neighbouring lanes.
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

// A turn at the Tensor Cores: barriers 1 and 2 belong to the warpgroups.
__device__ __forceinline__ void wait_for_turn(int consumer) {
    asm volatile("bar.sync %0, 256;" ::"r"(1 + consumer) : "memory");
}
__device__ __forceinline__ void pass_turn(int consumer) {
    asm volatile("bar.arrive %0, 256;" ::"r"(2 - consumer) : "memory");
}

template <int D>
__device__ __forceinline__ void start_scores(float (&scores)[kRegisters], unsigned q, unsigned k) {
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
        const int at = i / 4 * kBlockBytes + i % 4 * 32;
        ScoreProduct::run(scores, descriptor(q + at, 16, 1024), descriptor(k + at, 16, 1024),
                          i != 0);
    }
    commit_products();
}
template <int D>
__device__ __forceinline__ void start_values(float (&sum)[D / 2], const unsigned (&p)[32],
                                             unsigned v) {
#pragma unroll
    for (int i = 0; i < kKeys / 16; ++i)
        ValueProduct<D>::run(sum, p + 4 * i, descriptor(v + i * 16 * kRowBytes, kBlockBytes, 1024));
    commit_products();
}

// Scores become probabilities relative to the largest score so far. What has been added up is to be
// multiplied by `correction`.
struct Softmax {
    float highest[2] = {kLowest, kLowest}, sum[2] = {0, 0}, correction[2];

    __device__ __forceinline__ void step(float (&scores)[kRegisters], float scale) {
        float before[2] = {highest[0], highest[1]};
#pragma unroll
        for (int i = 0; i < kRegisters; ++i)
            highest[i / 2 % 2] = fmaxf(highest[i / 2 % 2], scores[i]);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            highest[r] = row_max(highest[r]);
            correction[r] = exp2f((before[r] - highest[r]) * scale);
            sum[r] *= correction[r];
        }
#pragma unroll
        for (int i = 0; i < kRegisters; ++i) {
            scores[i] = exp2f(scores[i] * scale - highest[i / 2 % 2] * scale);
            sum[i / 2 % 2] += scores[i];
        }
    }
};

// Keys that a query does not see.
__device__ __forceinline__ void mask(float (&scores)[kRegisters], int key0, int row, int seq,
                                     int causal) {
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) {
        const int key = key0 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (key >= seq || (causal && key > row + i / 2 % 2 * 8)) scores[i] = kLowest;
    }
}

template <int D>
__device__ __forceinline__ void attention(const CUtensorMap& q_map, const CUtensorMap& k_map,
                                          const CUtensorMap& v_map, float* out, int seq, int d,
                                          int causal, float scale) {
    constexpr int kTileBytes = D / 64 * kBlockBytes;
    extern __shared__ char memory[];
    __shared__ Barriers barriers;
    char* const q_tile = memory + (1024 - tma::shared_address(memory) % 1024) % 1024;
    char* const k_tiles = q_tile + kTileBytes;
    char* const v_tiles = k_tiles + kStages * kTileBytes;
    const int query0 = blockIdx.x * kQueries, head = blockIdx.y;
    const int keys = causal ? min(query0 + kQueries, seq) : seq;
    const int tiles = (keys + kKeys - 1) / kKeys;
    if (threadIdx.x == 0) {
        tma::init(barriers.queries, 1);
        for (int i = 0; i < kStages; ++i) {
            tma::init(barriers.keys[i], 1);
            tma::init(barriers.values[i], 1);
            tma::init(barriers.keys_free[i], 2);
            tma::init(barriers.values_free[i], 2);
        }
        tma::publish();
    }
    __syncthreads();
    if (threadIdx.x < kWarpgroup) {
        ladder::give_registers<24>();
        if (threadIdx.x != 0) return;
        load_tile<D>(q_tile, q_map, query0, head, barriers.queries);
        for (int tile = 0; tile < tiles; ++tile) {
            const int stage = tile % kStages, parity = tile / kStages % 2 ^ 1;
            tma::wait(barriers.keys_free[stage], parity);
            load_tile<D>(k_tiles + stage * kTileBytes, k_map, tile * kKeys, head,
                         barriers.keys[stage]);
            tma::wait(barriers.values_free[stage], parity);
            load_tile<D>(v_tiles + stage * kTileBytes, v_map, tile * kKeys, head,
                         barriers.values[stage]);
        }
        return;
    }
    ladder::take_registers<240>();
    const int consumer = threadIdx.x / kWarpgroup - 1, thread = threadIdx.x % kWarpgroup;
    const bool speaks = thread == 0;
    const int row = query0 + consumer * 64 + thread / 32 * 16 + thread % 32 / 4;
    const unsigned q_rows = tma::shared_address(q_tile) + consumer * 64 * kRowBytes;
    const unsigned k_memory = tma::shared_address(k_tiles), v_memory = tma::shared_address(v_tiles);
    const float scale_log2 = scale * 1.4426950408889634f;

    float scores[kRegisters], sum[D / 2] = {};
    unsigned p[32];
    Softmax softmax;
    const auto probabilities = [&] {
#pragma unroll
        for (int i = 0; i < 32; ++i) p[i] = pack(scores[2 * i], scores[2 * i + 1]);
    };

    if (consumer == 1) pass_turn(1);  // the first turn is the other one's
    tma::wait(barriers.queries, 0);
    tma::wait(barriers.keys[0], 0);
    wait_for_turn(consumer);
    begin_products();
    start_scores<D>(scores, q_rows, k_memory);
    pass_turn(consumer);
    wait_for_products<0>();
    if (speaks) ladder::arrive(barriers.keys_free[0]);
    mask(scores, 0, row, seq, causal);
    softmax.step(scores, scale_log2);
    probabilities();
    for (int tile = 1; tile < tiles; ++tile) {
        const int stage = tile % kStages, before = (tile - 1) % kStages;
        tma::wait(barriers.keys[stage], tile / kStages % 2);
        wait_for_turn(consumer);
        begin_products();
        start_scores<D>(scores, q_rows, k_memory + stage * kTileBytes);
        tma::wait(barriers.values[before], (tile - 1) / kStages % 2);
        start_values<D>(sum, p, v_memory + before * kTileBytes);
        pass_turn(consumer);
        wait_for_products<1>();
        if (speaks) ladder::arrive(barriers.keys_free[stage]);
        if ((tile + 1) * kKeys > seq || (causal && (tile + 1) * kKeys > query0 + consumer * 64))
            mask(scores, tile * kKeys, row, seq, causal);
        softmax.step(scores, scale_log2);
        wait_for_products<0>();
        if (speaks) ladder::arrive(barriers.values_free[before]);
#pragma unroll
        for (int i = 0; i < D / 2; ++i) sum[i] *= softmax.correction[i / 2 % 2];
        probabilities();
    }
    // Of the turn that nobody takes any more: the barrier is left as it was found.
    if (consumer == 0) wait_for_turn(0);
    const int last = (tiles - 1) % kStages;
    tma::wait(barriers.values[last], (tiles - 1) / kStages % 2);
    begin_products();
    start_values<D>(sum, p, v_memory + last * kTileBytes);
    wait_for_products<0>();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const float total = 1.0f / row_sum(softmax.sum[r]);
        if (row + r * 8 >= seq) continue;
        float* const to = out + ((size_t)head * seq + row + r * 8) * d;
#pragma unroll
        for (int j = 0; j < D / 8; ++j) {
            const int col = j * 8 + thread % 4 * 2;
            if (col < d)
                *reinterpret_cast<float2*>(to + col) =
                    make_float2(sum[4 * j + 2 * r] * total, sum[4 * j + 2 * r + 1] * total);
        }
    }
}

#define KERNEL(D)                                                                      \
    extern "C" __global__ void __launch_bounds__(384, 1) attention_wgmma_##D(          \
        const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,  \
        const __grid_constant__ CUtensorMap v, float* out, int seq, int d, int causal, \
        float scale) {                                                                 \
        attention<D>(q, k, v, out, seq, d, causal, scale);                             \
    }
KERNEL(64)
KERNEL(128)
