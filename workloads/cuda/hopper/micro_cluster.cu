// SPDX-License-Identifier: Apache-2.0
// Distributed shared memory and the barrier of a cluster. Grid: one cluster of two blocks.
#include "../micro/micro.cuh"

static __device__ __forceinline__ unsigned rank_here() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
static __device__ __forceinline__ unsigned mapa(const void* p, unsigned rank) {
    unsigned mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(mapped)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(p))), "r"(rank));
    return mapped;
}
static __device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// Words of the block of rank `rank` that hold their own addresses, read again and again by the first
// block's one warp, of which some lanes take part.
extern "C" __global__ void __cluster_dims__(2, 1, 1) dsmem_chain(unsigned long long* cycles,
                                                                 int rank) {
    __shared__ unsigned word[32];
    word[threadIdx.x] = mapa(word + threadIdx.x, rank_here());
    cluster_sync();
    if (rank_here() == 0) {
        unsigned a = mapa(word + threadIdx.x, rank);
#define DSMEM_LOAD asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(a)::"memory");
        TIME_CHAIN(DSMEM_LOAD)
        if (threadIdx.x == 0) cycles[2] = a != mapa(word + threadIdx.x, rank);
    }
    cluster_sync();
}

// Coalesced loads of 4 bytes a lane from the other block: by the first block alone, or by both from
// each other. Addresses alternate and the words are added up, so that the compiler leaves the loads.
extern "C" __global__ void __cluster_dims__(2, 1, 1) dsmem_load(unsigned long long* cycles,
                                                                int both, int iterations) {
    __shared__ unsigned words[8 * 1024 + 32];
    for (int i = threadIdx.x; i < 8 * 1024 + 32; i += blockDim.x) words[i] = i;
    const unsigned rank = rank_here();
    const unsigned first = mapa(words + threadIdx.x, rank ^ 1);
    cycles += 64 * rank;
    cluster_sync();
    if (rank == 0 || both != 0) {
        unsigned sum = 0;
#define LOAD(n)                                                                             \
    {                                                                                       \
        unsigned a;                                                                         \
        asm volatile("ld.shared::cluster.u32 %0, [%1+" #n "];" : "=r"(a) : "r"(from));      \
        sum += a;                                                                           \
    }
        TIME_LOOP(const unsigned from = first + 128 * (i % 2);
                  LOAD(0) LOAD(4096) LOAD(8192) LOAD(12288) LOAD(16384) LOAD(20480)
                      LOAD(24576) LOAD(28672))
        if (sum == ~0u) cycles[63] = sum;  // never
    }
    cluster_sync();
}

// Stores likewise; the fence behind them waits until they are performed.
extern "C" __global__ void __cluster_dims__(2, 1, 1) dsmem_store(unsigned long long* cycles,
                                                                 int both, int iterations) {
    __shared__ unsigned words[8 * 1024];
    for (int i = threadIdx.x; i < 8 * 1024; i += blockDim.x) words[i] = i;
    const unsigned rank = rank_here();
    const unsigned to = mapa(words + threadIdx.x, rank ^ 1);
    cycles += 64 * rank;
    cluster_sync();
    if (rank == 0 || both != 0) {
#define STORE(n) asm volatile("st.shared::cluster.u32 [%0+" #n "], %1;" ::"r"(to), "r"(i) : "memory");
        unsigned long long begin = 0, end = 0;
#pragma unroll 1
        for (int round = 0; round < 2; ++round) {
            __syncthreads();
            begin = clock_now();
#pragma unroll 1
            for (int i = 0; i < iterations; ++i) {
                STORE(0) STORE(4096) STORE(8192) STORE(12288) STORE(16384) STORE(20480)
                STORE(24576) STORE(28672)
            }
            asm volatile("fence.acq_rel.cluster;" ::: "memory");
            end = clock_now();
        }
        note(cycles, begin, end);
    }
    cluster_sync();
}

// Arrival of all threads and the wait for it.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_barrier(unsigned long long* cycles) {
    cycles += 64 * rank_here();
    cluster_sync();
#define CLUSTER_BARRIER                                                                       \
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    TIME_CHAIN(CLUSTER_BARRIER)
}
