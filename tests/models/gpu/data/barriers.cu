// SPDX-License-Identifier: Apache-2.0
// Warps that arrive at a barrier more than once before it completes, and warps that poll mbarriers
// beside others that work. nvcc 13.0 -O3 -arch=sm_90a -cubin
#define GLOBAL extern "C" __global__ void

/// Three groups of 64 threads take turns; the first one gives itself its first turn.
GLOBAL own_first_turn(int* out) {
    __shared__ int at;
    const int group = threadIdx.x / 64, next = (group + 1) % 3;
    if (threadIdx.x == 0) at = 0;
    __syncthreads();
    if (group == 0) asm volatile("bar.arrive 1, 128;" ::: "memory");
    for (int round = 0; round < 5; ++round) {
        asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
        if (threadIdx.x % 64 == 0) out[at++] = group;
        asm volatile("bar.arrive %0, 128;" ::"r"(next + 1) : "memory");
    }
}

__device__ unsigned address(unsigned long long& barrier) {
    return static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
}
__device__ void arrive(unsigned long long& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(barrier)) : "memory");
}
__device__ bool is_complete(unsigned long long& barrier, int parity) {
    int done;
    asm volatile(
        "{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;"
        " selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(address(barrier)), "r"(parity)
        : "memory");
    return done != 0;
}

/// Warp 0 fills a ring of three; of four others that watch each filling, one in turn empties it.
/// One that fell three fillings behind would wait for ever; the last one polls more than the
/// others.
GLOBAL watched_ring(int* out, int rounds, int work) {
    __shared__ unsigned long long full[3], empty[3], never;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 7; ++i)
            asm volatile(
                "mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(i < 3   ? full[i]
                                                                       : i < 6 ? empty[i - 3]
                                                                               : never))
                : "memory");
    }
    __syncthreads();
    if (warp == 0) {
        float x = lane;
        for (int i = 0; i < rounds; ++i) {
            while (i >= 3 && !is_complete(empty[i % 3], i / 3 + 1 & 1)) __nanosleep(10);
            for (int j = 0; j < work; ++j) x = x * 0.5f + 1.0f;
            if (lane == 0) arrive(full[i % 3]);
            __syncwarp();
        }
        if (x > 3.0f) out[0] = 0;
        return;
    }
    int seen = 0;
    while (seen < rounds) {
        if (is_complete(full[seen % 3], seen / 3 & 1)) {
            if (seen % 4 == warp - 1 && lane == 0) arrive(empty[seen % 3]);
            __syncwarp();
            ++seen;
        }
        if (is_complete(never, 0)) return;
        if (warp == 4 && (is_complete(never, 0) || is_complete(never, 0) || is_complete(never, 0)))
            return;
        __nanosleep(10);
    }
    if (lane == 0) out[warp] = seen;
}
