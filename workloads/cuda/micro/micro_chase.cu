// SPDX-License-Identifier: Apache-2.0
// Latency of memory by pointer chases: each load's address is the value that the load before it
// brought. Grid: one block.
#include "micro.cuh"

// A ring of 64-bit pointers in global memory, walked by one thread: `warm` times 16 steps untimed,
// then from `start` again `timed` times 16.
#define CHASE(NAME, LOAD)                                                               \
    extern "C" __global__ void NAME(unsigned long long* cycles, const void* start,      \
                                    const void* warm_start, int warm, int timed) {      \
        unsigned long long p = reinterpret_cast<unsigned long long>(warm_start), sink = 0; \
        _Pragma("unroll 1") for (int i = 0; i < warm; ++i) { REPEAT_16(STEP(LOAD)) }    \
        if (p == 1) return;                                                             \
        p = reinterpret_cast<unsigned long long>(start);                                \
        STEP(LOAD)                                                                      \
        const unsigned long long begin = clock_now();                                   \
        _Pragma("unroll 1") for (int i = 0; i < timed; ++i) { REPEAT_16(STEP(LOAD)) }   \
        const unsigned long long end = clock_now();                                     \
        STEP(LOAD)                                                                      \
        cycles[0] = end - begin;                                                        \
        cycles[1] = p;                                                                  \
        cycles[2] = sink;                                                               \
    }
#define STEP(LOAD) asm volatile(LOAD : "+l"(p), "+l"(sink));
CHASE(chase_global, "ld.global.u64 %0, [%0];")
CHASE(chase_l2, "ld.global.cg.u64 %0, [%0];")
CHASE(chase_global_128, "{.reg .u64 q; ld.global.v2.u64 {%0, q}, [%0]; xor.b64 %1, %1, q;}")
#undef STEP

// Words that are the lower halves of addresses; the upper half, which all share, stays in its
// register. So the loaded register is the next load's address register and nothing computes in
// between. Each lane begins at `lane_stride` bytes times its number.
extern "C" __global__ void words_global(unsigned long long* cycles, const char* base,
                                        unsigned* last, int lane_stride) {
    const unsigned long long first =
        reinterpret_cast<unsigned long long>(base + threadIdx.x * lane_stride);
    unsigned a = static_cast<unsigned>(first);
    const unsigned upper = static_cast<unsigned>(first >> 32);
#define WORD_STEP                                                                       \
    asm volatile("{.reg .u64 p; mov.b64 p, {%0, %1}; ld.global.u32 %0, [p];}"            \
                 : "+r"(a) : "r"(upper));
    TIME_CHAIN(WORD_STEP)
    last[threadIdx.x] = a;
}

// The same in shared memory, which the kernel fills with addresses that point to themselves.
#define SHARED(NAME, STEP)                                                              \
    extern "C" __global__ void NAME(unsigned long long* cycles, unsigned* last,         \
                                    int lane_stride) {                                  \
        __shared__ unsigned words[4096];                                                \
        for (int i = threadIdx.x; i < 4096; i += blockDim.x) {                          \
            words[i] = static_cast<unsigned>(__cvta_generic_to_shared(&words[i]));      \
        }                                                                               \
        __syncthreads();                                                                \
        const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(words));  \
        unsigned a = first + threadIdx.x * lane_stride, sink = 0;                       \
        TIME_CHAIN(STEP)                                                                \
        last[threadIdx.x] = a - first;                                                  \
        if (sink == 1) last[threadIdx.x] = 0;                                           \
    }
#define SHARED_32 asm volatile("ld.shared.u32 %0, [%0];" : "+r"(a));
#define SHARED_64                                                                       \
    asm volatile("{.reg .u32 w; ld.shared.v2.u32 {%0, w}, [%0]; xor.b32 %1, %1, w;}"     \
                 : "+r"(a), "+r"(sink));
#define SHARED_128                                                                      \
    asm volatile("{.reg .u32 x, y, w; ld.shared.v4.u32 {%0, x, y, w}, [%0];"             \
                 "xor.b32 %1, %1, w; xor.b32 %1, %1, x; xor.b32 %1, %1, y;}"             \
                 : "+r"(a), "+r"(sink));
SHARED(words_shared_32, SHARED_32)
SHARED(words_shared_64, SHARED_64)
SHARED(words_shared_128, SHARED_128)

// The same in constant memory: LDC with a register index. The host writes the offsets.
__constant__ unsigned constant_offsets[8192];
extern "C" __global__ void words_constant(unsigned long long* cycles, unsigned* last, int start) {
    unsigned a = start;
#define CONSTANT_STEP                                                                   \
    asm volatile("{.reg .u32 p; mov.u32 p, constant_offsets; add.u32 p, p, %0;"          \
                 "ld.const.u32 %0, [p];}" : "+r"(a));
    TIME_CHAIN(CONSTANT_STEP)
    last[threadIdx.x] = a;
}

// Latency of single lines: cycles[i] for the line at base + i * stride, past L1, in the second of
// two rounds. The addition waits for the load and stands before the clock.
extern "C" __global__ void probe_lines(unsigned long long* cycles, const char* base, int stride,
                                       int count, int rounds) {
    unsigned sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
            const char* p = base + static_cast<long long>(i) * stride;
            unsigned long long begin, end;
            unsigned value;
            asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin)::"memory");
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
            asm volatile("add.u32 %0, %0, %1;" : "+r"(sum) : "r"(value) : "memory");
            asm volatile("mov.u64 %0, %%clock64;" : "=l"(end)::"memory");
            cycles[i] = end - begin;
        }
    }
    cycles[count] = sum;
}

// Reads whole lines so that what was cached in L2 before is not any more. Any grid.
extern "C" __global__ void evict(const uint4* lines, unsigned* sum, int count) {
    unsigned x = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        x ^= lines[i].x;
    }
    if (x == 1) *sum = x;
}
