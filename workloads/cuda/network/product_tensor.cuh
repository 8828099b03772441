// SPDX-License-Identifier: Apache-2.0
// Products and convolutions (implicit GEMM) on Tensor Cores: tiles of both operands in shared
// memory with k consecutive, several steps on their way by cp.async, fragments by ldmatrix. A step
// is 64 bytes of k and an instruction takes 32, whatever the type: rows in shared memory look the
// same for all of them. Where 16 bytes along k are not consecutive and aligned, each thread brings
// single elements of one row. Block: threads of the tile; grid: (tiles of n, tiles of m, splits *
// batches); shared memory: tensor_shared_bytes.
#pragma once

#include "../kernels/async_copy.cuh"
#include "../kernels/matrix_instructions.cuh"
#include "product.cuh"
#include "quantised.cuh"

namespace lockstep::kernels {

struct Fp16Product {
    using Element = __half;
    using Sum = float;
    using Result = Element;
    __device__ __forceinline__ static void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1) {
        mma_f16(c, a, b0, b1);
    }
};

#if __CUDA_ARCH__ >= 800
struct Bf16Product {
    using Element = __nv_bfloat16;
    using Sum = float;
    using Result = Element;
    __device__ __forceinline__ static void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};

struct Tf32Product {
    using Element = float;
    using Sum = float;
    using Result = Element;
    __device__ __forceinline__ static unsigned rounded(unsigned x) {
        unsigned y;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x)));
        return y;
    }
    __device__ __forceinline__ static void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(rounded(a[0])), "r"(rounded(a[1])), "r"(rounded(a[2])), "r"(rounded(a[3])),
              "r"(rounded(b0)), "r"(rounded(b1)));
    }
};
#endif

struct Int8Product {
    using Element = signed char;
    using Sum = int;
    __device__ __forceinline__ static void multiply(int (&c)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1) {
        mma_s8(c, a, b0, b1);
    }
};

constexpr int kPitchBytes = kTensorDepthBytes + 16;  // the 8 rows of an ldmatrix in all 32 banks

/// The tiles of one step.
template <int M, int N>
struct TensorStage {
    unsigned char a[M][kPitchBytes], b[N][kPitchBytes];
};

/// Brings `Rows` rows of a step: source(k) gives what is common to an index of k, at(tap, i) the
/// address of the thread's i-th row there, or null.
template <class T, int Rows, int Threads, class Source, class At>
__device__ __forceinline__ void bring_vectors(unsigned char (&tile)[Rows][kPitchBytes],
                                              const T* any, int k0, Source&& source, At&& at) {
    constexpr int kChunks = kTensorDepthBytes / 16, kPasses = Rows * kChunks / Threads;
    const int chunk = threadIdx.x % kChunks;
    const auto tap = source(k0 + chunk * (16 / static_cast<int>(sizeof(T))));
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
        const T* const from = at(tap, i);
        copy_async<16>(&tile[threadIdx.x / kChunks + i * (Threads / kChunks)][chunk * 16],
                       from == nullptr ? any : from, from != nullptr);
    }
}

template <class T, int Rows, int Threads, class Source, class At>
__device__ __forceinline__ void bring_elements(unsigned char (&tile)[Rows][kPitchBytes], int k0,
                                               Source&& source, At&& at) {
    constexpr int kDepth = kTensorDepthBytes / sizeof(T), kElements = Rows * kDepth / Threads;
    constexpr int kStep = Threads / Rows;
    static_assert(Threads % Rows == 0);
    T* const row = reinterpret_cast<T*>(tile[threadIdx.x % Rows]);
    const int first = threadIdx.x / Rows;
    T value[kElements];
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
        const T* const from = at(source(k0 + first + i * kStep), 0);
        value[i] = from == nullptr ? T(0.0f) : *from;
    }
#pragma unroll
    for (int i = 0; i < kElements; ++i) row[first + i * kStep] = value[i];
}

/// WM x WN: the tile of a warp.
template <class Kind, int M, int N, int WM, int WN>
__device__ __forceinline__ void tensor_product(const Product& p) {
    using T = typename Kind::Element;
    constexpr int kThreads = (M / WM) * (N / WN) * 32, kDepth = kTensorDepthBytes / sizeof(T);
    constexpr int kPasses = M * 4 / kThreads;
    static_assert(M == N);
    extern __shared__ __align__(16) unsigned char shared[];
    auto* const stages = reinterpret_cast<TensorStage<M, N>*>(shared);
    const int batches = gridDim.z / p.splits;
    const int split = blockIdx.z / batches, batch = blockIdx.z - split * batches;
    const Batch batch_at(p, batch);
    const T* const a = static_cast<const T*>(p.a) + batch_at.offset(p.a_batch);
    const T* const b = static_cast<const T*>(p.b) + batch_at.offset(p.b_batch);
    const int row0 = blockIdx.y * M, column0 = blockIdx.x * N;
    const int k_begin = split * p.split_k, k_end = min(p.k, k_begin + p.split_k);
    const bool a_vector = p.a_vector != 0, b_vector = p.b_vector != 0;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / (N / WN) * WM, warp_column = warp % (N / WN) * WN;

    WindowRow rows[kPasses];
#pragma unroll
    for (int i = 0; i < kPasses; ++i)
        rows[i].set(p, row0 + (a_vector ? threadIdx.x / 4 + i * (kThreads / 4) : threadIdx.x % M));
    const int b_row = column0 + (b_vector ? threadIdx.x / 4 : threadIdx.x % N);

    const auto bring = [&](int step) {
        TensorStage<M, N>& stage = stages[step % kTensorStages];
        const int k0 = k_begin + step * kDepth;
        struct At {
            Tap tap;
            int in_a, in_b;
            bool valid;
        };
        const auto source = [&](int k) {
            const Tap tap(p, k);
            return At{tap, tap.in_a(p), tap.in_b(p), k < k_end};
        };
        const auto in_a = [&](const At& at, int i) -> const T* {
            return at.valid && at.tap.hits(p, rows[i]) ? a + (rows[i].offset + at.in_a) : nullptr;
        };
        const auto in_b = [&](const At& at, int i) -> const T* {
            const int column = b_row + i * (kThreads / 4);
            return at.valid && column < p.n ? b + (column * p.b_n + at.in_b) : nullptr;
        };
        // The common case knows its index of k once for both operands.
        if (a_vector && b_vector) {
            const int chunk = threadIdx.x % 4, row = threadIdx.x / 4;
            const At at = source(k0 + chunk * (16 / static_cast<int>(sizeof(T))));
#pragma unroll
            for (int i = 0; i < kPasses; ++i) {
                const T *const from_a = in_a(at, i), *const from_b = in_b(at, i);
                const int to = row + i * (kThreads / 4);
                copy_async<16>(&stage.a[to][chunk * 16], from_a == nullptr ? a : from_a,
                               from_a != nullptr);
                copy_async<16>(&stage.b[to][chunk * 16], from_b == nullptr ? b : from_b,
                               from_b != nullptr);
            }
            return;
        }
        if (a_vector)
            bring_vectors<T, M, kThreads>(stage.a, a, k0, source, in_a);
        else
            bring_elements<T, M, kThreads>(stage.a, k0, source, in_a);
        if (b_vector)
            bring_vectors<T, N, kThreads>(stage.b, b, k0, source, in_b);
        else
            bring_elements<T, N, kThreads>(stage.b, k0, source, in_b);
    };

    using Sum = typename Kind::Sum;
    Sum sum[WM / 16][WN / 8][4] = {};
    const int steps = (k_end - k_begin + kDepth - 1) / kDepth;
    // The first steps only bring tiles: that way the code that does is there once.
    for (int step = 1 - kTensorStages; step < steps; ++step) {
        if (step >= 0) {
            wait_for_copies<kTensorStages - 2>();
            __syncthreads();  // this step's tiles have come, and all are done with those before
        }
        if (step + kTensorStages - 1 < steps) bring(step + kTensorStages - 1);
        commit_copies();
        if (step < 0) continue;
        const TensorStage<M, N>& stage = stages[step % kTensorStages];
#pragma unroll
        for (int at = 0; at < kTensorDepthBytes; at += 32) {
            unsigned a_part[WM / 16][4], b_part[WN / 16][4];
#pragma unroll
            for (int i = 0; i < WM / 16; ++i)
                load_matrix_x4(a_part[i],
                               &stage.a[warp_row + 16 * i + lane % 16][at + lane / 16 * 16]);
#pragma unroll
            for (int i = 0; i < WN / 16; ++i)
                load_matrix_x4(b_part[i], &stage.b[warp_column + 16 * i + lane / 16 * 8 + lane % 8]
                                                  [at + lane / 8 % 2 * 16]);
#pragma unroll
            for (int y = 0; y < WM / 16; ++y)
#pragma unroll
                for (int x = 0; x < WN / 8; ++x)
                    Kind::multiply(sum[y][x], a_part[y], b_part[x / 2][x % 2 * 2],
                                   b_part[x / 2][x % 2 * 2 + 1]);
        }
    }
    wait_for_copies<0>();

    // 32 rows of each warp at a time through shared memory, so that four columns go out together.
    constexpr int kSlab = M / WM * 32, kPitch = N + 4;
    auto* const sums = reinterpret_cast<float(*)[kPitch]>(shared);
#pragma unroll
    for (int slab = 0; slab < WM / 32; ++slab) {
        __syncthreads();
#pragma unroll
        for (int y = 0; y < 2; ++y)
#pragma unroll
            for (int x = 0; x < WN / 8; ++x)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const Sum(&from)[4] = sum[2 * slab + y][x];
                    const int row = warp_row / WM * 32 + 16 * y + lane / 4 + 8 * half;
                    float* const to = &sums[row][warp_column + 8 * x + lane % 4 * 2];
                    if constexpr (std::is_same_v<Sum, int>)
                        *reinterpret_cast<int2*>(to) =
                            make_int2(from[2 * half], from[2 * half + 1]);
                    else
                        *reinterpret_cast<float2*>(to) =
                            make_float2(from[2 * half], from[2 * half + 1]);
                }
        __syncthreads();
        const auto row_of = [&](int row) { return row0 + row / 32 * WM + slab * 32 + row % 32; };
        if constexpr (std::is_same_v<Sum, int>)
            put_integer_tile<kSlab, N, kThreads>(p, sums, column0, batch, batch_at, row_of);
        else
            put_tile<typename Kind::Result, kSlab, N, kThreads>(p, sums, column0, batch, batch_at, row_of);
    }
}

#define TENSOR_KERNELS(name, Kind)                                   \
    extern "C" __global__ void __launch_bounds__(kLargeTile.threads) \
        name##_large(const Product p) {                              \
        tensor_product<Kind, kLargeTile.m, kLargeTile.n, 64, 32>(p); \
    }                                                                \
    extern "C" __global__ void __launch_bounds__(kSmallTile.threads) \
        name##_small(const Product p) {                              \
        tensor_product<Kind, kSmallTile.m, kSmallTile.n, 32, 32>(p); \
    }

}  // namespace lockstep::kernels
