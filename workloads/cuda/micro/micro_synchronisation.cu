// SPDX-License-Identifier: Apache-2.0
// Barriers and atomics. One block unless said otherwise.
#include "micro.cuh"

extern "C" __global__ void barrier(unsigned long long* cycles) {
#define BARRIER asm volatile("bar.sync 0;" ::: "memory");
    TIME_CHAIN(BARRIER)
}

// The first four warps meet at barrier 1, four others at barrier 2.
extern "C" __global__ void named_barrier(unsigned long long* cycles) {
    if (threadIdx.x < 128) {
#define FIRST_BARRIER asm volatile("bar.sync 1, 128;" ::: "memory");
        TIME_CHAIN(FIRST_BARRIER)
    } else {
#define SECOND_BARRIER asm volatile("bar.sync 2, 128;" ::: "memory");
#pragma unroll 1
        for (int i = 0; i < 2 * 13; ++i) { REPEAT_8(SECOND_BARRIER) }
    }
}

// Two warps that hand a token to and fro: one step is there and back.
extern "C" __global__ void token(unsigned long long* cycles) {
    if (threadIdx.x < 32) {
#define THERE asm volatile("bar.arrive 1, 64; bar.sync 2, 64;" ::: "memory");
        TIME_CHAIN(THERE)
    } else {
#define BACK asm volatile("bar.sync 1, 64; bar.arrive 2, 64;" ::: "memory");
#pragma unroll 1
        for (int i = 0; i < 2 * 13; ++i) { REPEAT_8(BACK) }
    }
}

extern "C" __global__ void fence_cta(unsigned long long* cycles) {
#define FENCE_CTA asm volatile("fence.sc.cta;" ::: "memory");
    TIME_CHAIN(FENCE_CTA)
}
extern "C" __global__ void fence_gpu(unsigned long long* cycles) {
#define FENCE_GPU asm volatile("fence.sc.gpu;" ::: "memory");
    TIME_CHAIN(FENCE_GPU)
}
extern "C" __global__ void fence_sys(unsigned long long* cycles) {
#define FENCE_SYS asm volatile("fence.sc.sys;" ::: "memory");
    TIME_CHAIN(FENCE_SYS)
}

// A chain of atomic additions that return the old value, which is the next address's offset: they
// add 0 to zeros. Lane l works at l * lane_stride bytes (0: all at one word).
extern "C" __global__ void atomic_shared_chain(unsigned long long* cycles, int lane_stride,
                                               int zero) {
    __shared__ unsigned words[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
        words[i] = static_cast<unsigned>(
            __cvta_generic_to_shared(&words[threadIdx.x * lane_stride / 4 % 1024]));
    }
    __syncthreads();
    const unsigned mine = threadIdx.x * lane_stride / 4 % 1024;
    unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(&words[mine]));
    if (lane_stride != 0) words[mine] = a;
    __syncthreads();
#define ATOMIC_SHARED                                                                   \
    asm volatile("atom.shared.add.u32 %0, [%0], %1;" : "+r"(a) : "r"(zero) : "memory");
    TIME_CHAIN(ATOMIC_SHARED)
    if (a == 1) cycles[2] = 1;
}

extern "C" __global__ void atomic_global_chain(unsigned long long* cycles,
                                               unsigned long long* words, int lane_stride,
                                               int zero) {
    unsigned long long* p = words + threadIdx.x * lane_stride / 8;
    *p = reinterpret_cast<unsigned long long>(p);
    __syncwarp();
    unsigned long long a = reinterpret_cast<unsigned long long>(p);
#define ATOMIC_GLOBAL                                                                   \
    asm volatile("atom.global.add.u64 %0, [%0], %1;"                                     \
                 : "+l"(a) : "l"(static_cast<unsigned long long>(zero)) : "memory");
    TIME_CHAIN(ATOMIC_GLOBAL)
    if (a == 1) cycles[2] = 1;
}

// Eight additions an iteration without a chain.
extern "C" __global__ void atomic_shared_rate(unsigned long long* cycles, unsigned* result,
                                              int lane_stride, int one, int iterations) {
    __shared__ unsigned words[8192];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0;
    __syncthreads();
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(words)) +
                             threadIdx.x % 32 * lane_stride;
#define ADD_SHARED asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "r"(one) : "memory");
    TIME_LOOP(REPEAT_8(ADD_SHARED))
    __syncthreads();
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) result[i] = words[i];
}

// Any grid: `iterations` reductions by each thread. Thread t adds at
// (t * thread_stride + block * block_stride) words; 0, 0: everything at one word.
extern "C" __global__ void reduction_rate(unsigned* words, int thread_stride, int block_stride,
                                          int iterations) {
    unsigned* p = words + threadIdx.x * thread_stride + blockIdx.x * block_stride;
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
        asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
    }
}

// As above with returned values, four under way at once.
extern "C" __global__ void atomic_rate(unsigned* words, unsigned* sums, int thread_stride,
                                       int block_stride, int iterations) {
    unsigned* p = words + threadIdx.x * thread_stride + blockIdx.x * block_stride;
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < iterations; i += 4) {
        unsigned a[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(a[k]) : "l"(p) : "memory");
        }
        sum += a[0] + a[1] + a[2] + a[3];
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
