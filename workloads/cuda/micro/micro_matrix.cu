// SPDX-License-Identifier: Apache-2.0
// Tensor Cores through mma.sync, and ldmatrix. All elements of A are equal, and all of B; the host
// picks them so that each step adds one and the same number to every accumulator.
#include "micro.cuh"

#define STORE(c, chain)                                                                 \
    _Pragma("unroll") for (int i = 0; i < sizeof c / sizeof c[0]; ++i) {                \
        result[(chain * blockDim.x + threadIdx.x) * (sizeof c / sizeof c[0]) + i] = c[i]; \
    }
#define MMA(NAME, TYPE, COUNT, OPERAND, STEP)                                           \
    extern "C" __global__ void latency_mma_##NAME(unsigned long long* cycles,           \
                                                  TYPE* result, const OPERAND* operands) { \
        const OPERAND a = operands[0], b = operands[1];                                 \
        TYPE c[COUNT] = {};                                                             \
        TIME_CHAIN(STEP(c))                                                             \
        STORE(c, 0)                                                                     \
    }                                                                                   \
    extern "C" __global__ void throughput_mma_##NAME(                                   \
        unsigned long long* cycles, TYPE* result, const OPERAND* operands, int iterations) { \
        const OPERAND a = operands[0], b = operands[1];                                 \
        TYPE c0[COUNT] = {}, c1[COUNT] = {}, c2[COUNT] = {}, c3[COUNT] = {};            \
        TYPE c4[COUNT] = {}, c5[COUNT] = {}, c6[COUNT] = {}, c7[COUNT] = {};            \
        TIME_LOOP(REPEAT_4(STEP(c0) STEP(c1) STEP(c2) STEP(c3) STEP(c4) STEP(c5)        \
                               STEP(c6) STEP(c7)))                                      \
        STORE(c0, 0) STORE(c1, 1) STORE(c2, 2) STORE(c3, 3)                             \
        STORE(c4, 4) STORE(c5, 5) STORE(c6, 6) STORE(c7, 7)                             \
    }

// By registers: accumulators (f: 4 x f32, s: 4 x s32, h: 2 x f16x2), then of A, then of B.
#define F_2_1(c, OP)                                                                    \
    asm volatile("mma.sync.aligned." OP " {%0,%1,%2,%3}, {%4,%4}, {%5}, {%0,%1,%2,%3};"  \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(b));
#define F_4_2(c, OP)                                                                    \
    asm volatile("mma.sync.aligned." OP                                                 \
                 " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"                \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(b));
#define S_1_1(c, OP)                                                                    \
    asm volatile("mma.sync.aligned." OP " {%0,%1}, {%2}, {%3}, {%0,%1};"                 \
                 : "+r"(c[0]), "+r"(c[1]) : "r"(a), "r"(b));
#define S_2_1(c, OP)                                                                    \
    asm volatile("mma.sync.aligned." OP " {%0,%1,%2,%3}, {%4,%4}, {%5}, {%0,%1,%2,%3};"  \
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a), "r"(b));
#define S_4_2(c, OP)                                                                    \
    asm volatile("mma.sync.aligned." OP                                                 \
                 " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"                \
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a), "r"(b));
#define H_2_1(c, OP)                                                                    \
    asm volatile("mma.sync.aligned." OP " {%0,%1}, {%2,%2}, {%3}, {%0,%1};"              \
                 : "+r"(c[0]), "+r"(c[1]) : "r"(a), "r"(b));
#define H_4_2(c, OP)                                                                    \
    asm volatile("mma.sync.aligned." OP " {%0,%1}, {%2,%2,%2,%2}, {%3,%3}, {%0,%1};"     \
                 : "+r"(c[0]), "+r"(c[1]) : "r"(a), "r"(b));

#define F16_1688_F32(c) F_2_1(c, "m16n8k8.row.col.f32.f16.f16.f32")
#define F16_1688_F16(c) H_2_1(c, "m16n8k8.row.col.f16.f16.f16.f16")
#define S8_8816(c) S_1_1(c, "m8n8k16.row.col.s32.s8.s8.s32")
MMA(f16_16x8x8_f32, float, 4, unsigned, F16_1688_F32)
MMA(f16_16x8x8_f16, unsigned, 2, unsigned, F16_1688_F16)
MMA(s8_8x8x16, unsigned, 2, unsigned, S8_8816)

#if __CUDA_ARCH__ >= 800
#define F16_16816_F32(c) F_4_2(c, "m16n8k16.row.col.f32.f16.f16.f32")
#define F16_16816_F16(c) H_4_2(c, "m16n8k16.row.col.f16.f16.f16.f16")
#define BF16_1688(c) F_2_1(c, "m16n8k8.row.col.f32.bf16.bf16.f32")
#define BF16_16816(c) F_4_2(c, "m16n8k16.row.col.f32.bf16.bf16.f32")
#define TF32_1684(c) F_2_1(c, "m16n8k4.row.col.f32.tf32.tf32.f32")
#define TF32_1688(c) F_4_2(c, "m16n8k8.row.col.f32.tf32.tf32.f32")
#define S8_16816(c) S_2_1(c, "m16n8k16.row.col.s32.s8.s8.s32")
#define S8_16832(c) S_4_2(c, "m16n8k32.row.col.s32.s8.s8.s32")
#define F64_884(c)                                                                      \
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" \
                 : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b));
MMA(f16_16x8x16_f32, float, 4, unsigned, F16_16816_F32)
MMA(f16_16x8x16_f16, unsigned, 2, unsigned, F16_16816_F16)
MMA(bf16_16x8x8, float, 4, unsigned, BF16_1688)
MMA(bf16_16x8x16, float, 4, unsigned, BF16_16816)
MMA(tf32_16x8x4, float, 4, unsigned, TF32_1684)
MMA(tf32_16x8x8, float, 4, unsigned, TF32_1688)
MMA(s8_16x8x16, unsigned, 4, unsigned, S8_16816)
MMA(s8_16x8x32, unsigned, 4, unsigned, S8_16832)
MMA(f64_8x8x4, double, 2, double, F64_884)
#endif

// ldmatrix: word l of shared memory holds the address of row l (16 bytes each), so that what lane l
// gets from the first matrix is again the address of row l: a chain without arithmetic.
#define LDMATRIX(NAME, STEP)                                                            \
    extern "C" __global__ void latency_ldmatrix_##NAME(unsigned long long* cycles,      \
                                                       unsigned* result) {              \
        __shared__ __align__(128) unsigned words[4096];                                 \
        const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(words));  \
        for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = first + i % 32 * 16; \
        __syncthreads();                                                                \
        unsigned a = first + threadIdx.x * 16, sum = 0;                                 \
        TIME_CHAIN(STEP(a, a))                                                          \
        result[threadIdx.x] = a - first;                                                \
        result[blockDim.x + threadIdx.x] = sum;                                         \
    }                                                                                   \
    extern "C" __global__ void throughput_ldmatrix_##NAME(unsigned long long* cycles,   \
                                                          unsigned* result, int iterations) { \
        __shared__ __align__(128) unsigned words[4096];                                 \
        const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(words));  \
        for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = 1;              \
        __syncthreads();                                                                \
        unsigned address = first + threadIdx.x % 32 * 16;                               \
        unsigned sum = 0;                                                               \
        TIME_LOOP(_Pragma("unroll") for (int k = 0; k < 16; ++k) {                      \
            unsigned a;                                                                 \
            STEP(a, address + 512 * k)                                                  \
            sum += a;                                                                   \
        } address ^= 8192;)                                                             \
        result[threadIdx.x] = sum;                                                      \
    }
#define X1(to, from)                                                                    \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"                  \
                 : "=r"(to) : "r"(from) : "memory");
#define X2(to, from)                                                                    \
    asm volatile("{.reg .u32 x; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, x}, [%2];" \
                 "xor.b32 %1, %1, x;}" : "=r"(to), "+r"(sum) : "r"(from) : "memory");
#define X4(to, from)                                                                    \
    asm volatile("{.reg .u32 x, y, z;"                                                   \
                 "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, x, y, z}, [%2];"         \
                 "xor.b32 %1, %1, x; xor.b32 %1, %1, y; xor.b32 %1, %1, z;}"             \
                 : "=r"(to), "+r"(sum) : "r"(from) : "memory");
LDMATRIX(x1, X1)
LDMATRIX(x2, X2)
LDMATRIX(x4, X4)
