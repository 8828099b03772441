// SPDX-License-Identifier: Apache-2.0
// What the microbenchmarks share: the SM's clock, repetition, and the two shapes of measurement of an
// instruction. Grid: one block.
//
// Latency: one chain of dependent instructions. The clock is read twice, after kShort and after
// kShort + kLong steps, with a step in flight each time, so that whatever the reads themselves cost
// is the same in both intervals: (long - short) / (kLong - kShort) is the latency, exactly.
// Throughput: kChains independent chains a warp, `iterations` times 32 steps of each, by as many
// warps as the block has; two launches with different iteration counts give the slope.
// Both do everything twice and time the second time: the first one fills the instruction caches.
#pragma once

#pragma nv_diag_suppress 177  // b, c or d of steps that do not use them

#define REPEAT_4(x) x x x x
#define REPEAT_8(x) REPEAT_4(x) REPEAT_4(x)
#define REPEAT_16(x) REPEAT_8(x) REPEAT_8(x)
#define REPEAT_32(x) REPEAT_16(x) REPEAT_16(x)
#define REPEAT_64(x) REPEAT_16(x) REPEAT_16(x) REPEAT_16(x) REPEAT_16(x)
#define REPEAT_80(x) REPEAT_64(x) REPEAT_16(x)

// 64 bits: the compiler reads a 32-bit clock by S2UR where the value is uniform, which takes long.
static __device__ __forceinline__ unsigned long long clock_now() {
    unsigned long long cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

// Each warp's first thread notes when the warp began and ended, at cycles[2 * warp].
static __device__ __forceinline__ void note(unsigned long long* cycles, unsigned long long begin, unsigned long long end) {
    if (threadIdx.x % 32 == 0) {
        cycles[threadIdx.x / 16] = begin;
        cycles[threadIdx.x / 16 + 1] = end;
    }
}

// Times a chain: leaves the short and the long interval in t0..t1 and t1..t2. STEP runs 104 times a
// round (4, 16, 80 and 4).
#define TIME_CHAIN(STEP)                                                                \
    unsigned long long t0 = 0, t1 = 0, t2 = 0;                                          \
    _Pragma("unroll 1") for (int round = 0; round < 2; ++round) {                       \
        REPEAT_4(STEP)                                                                  \
        t0 = clock_now();                                                               \
        REPEAT_16(STEP)                                                                 \
        t1 = clock_now();                                                               \
        REPEAT_80(STEP)                                                                 \
        t2 = clock_now();                                                               \
        REPEAT_4(STEP)                                                                  \
    }                                                                                   \
    if (threadIdx.x == 0) {                                                             \
        cycles[0] = t1 - t0;                                                            \
        cycles[1] = t2 - t1;                                                            \
    }

// latency_NAME(cycles, values): one warp. values[lane] is each lane's start and becomes its result;
// values[32 + lane], [64 + lane], [96 + lane] are b, c, d. STEP(a) changes a in place.
#define LATENCY(NAME, TYPE, STEP)                                                       \
    extern "C" __global__ void latency_##NAME(unsigned long long* cycles, TYPE* values) { \
        TYPE a = values[threadIdx.x];                                                   \
        const TYPE b = values[32 + threadIdx.x], c = values[64 + threadIdx.x],          \
                   d = values[96 + threadIdx.x];                                        \
        TIME_CHAIN(STEP(a))                                                             \
        values[threadIdx.x] = a;                                                        \
    }

// Times `iterations` times BODY in all warps at once.
#define TIME_LOOP(BODY)                                                                 \
    unsigned long long begin = 0, end = 0;                                              \
    _Pragma("unroll 1") for (int round = 0; round < 2; ++round) {                       \
        __syncthreads();                                                                \
        begin = clock_now();                                                            \
        _Pragma("unroll 1") for (int i = 0; i < iterations; ++i) { BODY }               \
        end = clock_now();                                                              \
    }                                                                                   \
    note(cycles, begin, end);

// throughput_NAME(cycles, values, iterations): values[chain * threads + thread], then b, c, d of the
// 32 lanes.
#define THROUGHPUT(NAME, TYPE, STEP)                                                    \
    extern "C" __global__ void throughput_##NAME(unsigned long long* cycles,            \
                                                 TYPE* values, int iterations) {        \
        const int threads = blockDim.x;                                                 \
        TYPE* mine = values + threadIdx.x;                                              \
        TYPE a0 = mine[0], a1 = mine[threads], a2 = mine[2 * threads],                  \
             a3 = mine[3 * threads], a4 = mine[4 * threads], a5 = mine[5 * threads],    \
             a6 = mine[6 * threads], a7 = mine[7 * threads];                            \
        const TYPE* others = values + 8 * threads + threadIdx.x % 32;                   \
        const TYPE b = others[0], c = others[32], d = others[64];                       \
        TIME_LOOP(REPEAT_32(STEP(a0) STEP(a1) STEP(a2) STEP(a3) STEP(a4) STEP(a5)       \
                                STEP(a6) STEP(a7)))                                     \
        mine[0] = a0, mine[threads] = a1, mine[2 * threads] = a2;                       \
        mine[3 * threads] = a3, mine[4 * threads] = a4, mine[5 * threads] = a5;         \
        mine[6 * threads] = a6, mine[7 * threads] = a7;                                 \
    }

#define MEASURE(NAME, TYPE, STEP) LATENCY(NAME, TYPE, STEP) THROUGHPUT(NAME, TYPE, STEP)
