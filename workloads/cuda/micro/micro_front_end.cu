// SPDX-License-Identifier: Apache-2.0
// Instruction fetch, branches, launches and register banks.
#include "micro.cuh"

extern "C" __global__ void empty() {}

// Straight-line code of `chunks` KiB (1 to 160), walked `rounds` times; the last walk is timed. A
// chunk is 64 instructions of two pipes that do not wait for each other, then one check.
#define PAIR(k)                                                                         \
    asm volatile("add.f32 %0, %0, %1;" : "+f"(x[k]) : "f"(b));                          \
    asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(u[k]) : "r"(c), "r"(d));
#define CHUNK                                                                           \
    REPEAT_4(PAIR(0) PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6) PAIR(7))           \
    if (--left == 0) goto done;
extern "C" __global__ void code_walk(unsigned long long* cycles, float* floats, unsigned* words,
                                     int chunks, int rounds) {
    float x[8];
    unsigned u[8];
    const float b = floats[8];
    const unsigned c = words[8], d = words[9];
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = floats[k], u[k] = words[k];
    unsigned long long begin = 0, end = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        int left = chunks;
        begin = clock_now();
        REPEAT_80(CHUNK)
        REPEAT_80(CHUNK)
    done:
        end = clock_now();
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) floats[k] = x[k], words[k] = u[k];
    cycles[0] = end - begin;
}

// A loop whose body takes 8 dependent additions, and the same additions without branches.
extern "C" __global__ void loop_taken(unsigned long long* cycles, float* values, int iterations) {
    float a = values[0];
    const float b = values[1];
#define ADD asm volatile("add.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    TIME_LOOP(REPEAT_8(ADD))
    values[0] = a;
}
extern "C" __global__ void loop_unrolled(unsigned long long* cycles, float* values,
                                         int iterations) {
    float a = values[0];
    const float b = values[1];
    TIME_LOOP(REPEAT_64(ADD) REPEAT_64(ADD))
    values[0] = a;
}

// Four-word vectors stay in aligned registers, so that .x and .z are in the even bank and .y and .w
// in the odd one. Each FFMA reads three different registers, all in one bank or two of them, and no
// source comes again in the same slot of the next instruction. 12 instructions a repetition.
#define BANKS(NAME, P, Q, R)                                                            \
    extern "C" __global__ void NAME(unsigned long long* cycles, float4* values,         \
                                    int iterations) {                                   \
        float4 v[12];                                                                   \
        _Pragma("unroll") for (int k = 0; k < 12; ++k) v[k] = values[k];                \
        TIME_LOOP(_Pragma("unroll") for (int k = 0; k < 48; ++k) {                      \
            asm volatile("fma.rn.f32 %0, %0, %1, %2;"                                   \
                         : "+f"(v[k % 12].P)                                            \
                         : "f"(v[(k + 1) % 12].Q), "f"(v[(k + 2) % 12].R));             \
        })                                                                              \
        if (threadIdx.x == 0) {                                                         \
            _Pragma("unroll") for (int k = 0; k < 12; ++k) values[k] = v[k];            \
        }                                                                               \
    }
BANKS(banks_same, x, x, z)
BANKS(banks_two, x, x, y)
