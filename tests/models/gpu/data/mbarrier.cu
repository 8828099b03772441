// SPDX-License-Identifier: Apache-2.0
// Threads that wait for the phase of an mbarrier which nobody completes, or somebody does late.
// nvcc 13.0 -O3 -arch=sm_90a -cubin
__device__ unsigned address(unsigned long long& barrier) {
    return static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
}
__device__ void init(unsigned long long& barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(arrivals)
                 : "memory");
}
__device__ void arrive(unsigned long long& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(barrier)) : "memory");
}
__device__ bool try_phase(unsigned long long& barrier, int parity) {
    int done;
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.s32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address(barrier)), "r"(parity)
        : "memory");
    return done;
}
__device__ bool test_phase(unsigned long long& barrier, int parity) {
    int done;
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.s32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address(barrier)), "r"(parity)
        : "memory");
    return done;
}

// One of two arrives; a second warp waits for the first at a barrier of the CTA.
extern "C" __global__ void nobody_arrives(int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) {
        init(barrier, 2);
        arrive(barrier);
    }
    __syncthreads();
    if (threadIdx.x < 32)
        while (!try_phase(barrier, 0)) {
        }
    __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void bytes_never_come(int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) {
        init(barrier, 1);
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(address(barrier))
            : "memory");
    }
    __syncthreads();
    while (!test_phase(barrier, 0)) {
    }
    out[threadIdx.x] = 1;
}

// As cuda::barrier waits: with a clock and pauses that grow.
extern "C" __global__ void waits_by_the_clock(int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) init(barrier, 1);
    __syncthreads();
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    while (!try_phase(barrier, 0)) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        const unsigned long long pause = (now - start) / 4;
        if (pause > 1000000)
            __nanosleep(1000000);
        else if (pause > 10000)
            __nanosleep(static_cast<unsigned>(pause));
    }
    out[threadIdx.x] = 1;
}

// One that gives up, and then lets the others go on.
extern "C" __global__ void gives_up(int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) init(barrier, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        const long long start = clock64();
        while (!try_phase(barrier, 0) && clock64() - start < 3000000) {
        }
        arrive(barrier);
    }
    while (!try_phase(barrier, 0)) {
    }
    out[threadIdx.x] = 1;
}

// One that asks so many times, and then lets the others go on.
extern "C" __global__ void counts(int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) init(barrier, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 20000 && !test_phase(barrier, 0); ++i) {
        }
        arrive(barrier);
    }
    while (!try_phase(barrier, 0)) {
    }
    out[threadIdx.x] = 1;
}

// Block 0 waits for block 1's flag before it arrives; blocks of one warp run in order.
extern "C" __global__ void another_block_is_late(volatile int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) init(barrier, 1);
    __syncthreads();
    if (blockIdx.x == 1) {
        if (threadIdx.x == 0) {
            for (int i = 0; i < 3000; ++i) out[1] = i;
            out[0] = 1;
        }
        return;
    }
    if (threadIdx.x == 32) {
        while (out[0] == 0) {
        }
        arrive(barrier);
    }
    while (!try_phase(barrier, 0)) {
    }
    out[2 + threadIdx.x] = 1;
}

// The hint, 10 ms, bounds a sleep that the arrival ends, after 20,000 cycles.
extern "C" __global__ void sleeps_until_somebody_arrives(int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) init(barrier, 1);
    __syncthreads();
    const long long start = clock64();
    if (threadIdx.x == 32) {
        while (clock64() - start < 20000) {
        }
        arrive(barrier);
    }
    int done;
    do {
        asm volatile(
            "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 10000000;\n"
            "selp.s32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(address(barrier))
            : "memory");
    } while (!done);
    out[threadIdx.x] = clock64() - start < 40000;
}

// Three warps of a warpgroup wait for a product to which the fourth never comes.
extern "C" __global__ void warpgroup_is_not_whole(float* out) {
    __shared__ __align__(128) unsigned short tile[64 * 16 + 8 * 16];
    float sum[4] = {};
    if (threadIdx.x < 96) {
        const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(tile));
        const unsigned long long a = (first & 0x3ffff) / 16 | 8ull << 16 | 16ull << 32;
        asm volatile(
            "wgmma.fence.sync.aligned;\n"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, "
            "0, 0;\n"
            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "l"(a), "l"(a + 128)
            : "memory");
    }
    __syncthreads();
    out[threadIdx.x] = sum[0];
}

// Rank 0 waits for an arrival that rank 1 never sends: it waits for rank 0 at barrier.cluster.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_waits(int* out) {
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) init(barrier, 1);
    __syncthreads();
    if (blockIdx.x % 2 == 0)
        while (!try_phase(barrier, 0)) {
        }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    out[threadIdx.x] = 1;
}
