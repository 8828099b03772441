// SPDX-License-Identifier: Apache-2.0
// Products of a warpgroup whose operands both have rows along k, in pieces of 128 bytes a row with
// the 128-byte swizzle.
#pragma once

#include <cuda_bf16.h>

#include "warpgroup.cuh"

namespace ladder {

constexpr int kRowBytes = 128;  // of a stage, along k

// Products with both operands along k. Scale: 0 starts a sum anew.
template <class T, int n>
struct RowProduct;

#define ROW_PRODUCT_64(T, Sum, shape, constraint, tail)                                         \
    template <>                                                                                 \
    struct RowProduct<T, 64> {                                                                  \
        __device__ __forceinline__ static void run(Sum (&sum)[32], unsigned long long a,        \
                                                   unsigned long long b, int scale) {           \
            asm volatile(                                                                       \
                "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"                                    \
                "wgmma.mma_async.sync.aligned.m64n64" shape " {" NAMES_32 "}, %32, %33, p" tail \
                ";\n}"                                                                          \
                : LIST_32(constraint, 0)                                                        \
                : "l"(a), "l"(b), "r"(scale));                                                  \
        }                                                                                       \
    };
#define ROW_PRODUCT_128(T, Sum, shape, constraint, tail)                                         \
    template <>                                                                                  \
    struct RowProduct<T, 128> {                                                                  \
        __device__ __forceinline__ static void run(Sum (&sum)[64], unsigned long long a,         \
                                                   unsigned long long b, int scale) {            \
            asm volatile(                                                                        \
                "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"                                     \
                "wgmma.mma_async.sync.aligned.m64n128" shape " {" NAMES_64 "}, %64, %65, p" tail \
                ";\n}"                                                                           \
                : LIST_32(constraint, 0), LIST_32(constraint, 32)                                \
                : "l"(a), "l"(b), "r"(scale));                                                   \
        }                                                                                        \
    };
#define ROW_PRODUCT_256(T, Sum, shape, constraint, tail)                                    \
    template <>                                                                             \
    struct RowProduct<T, 256> {                                                             \
        __device__ __forceinline__ static void run(Sum (&sum)[128], unsigned long long a,   \
                                                   unsigned long long b, int scale) {       \
            asm volatile(                                                                   \
                "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                               \
                "wgmma.mma_async.sync.aligned.m64n256" shape " {" NAMES_128                 \
                "}, %128, %129, p" tail ";\n}"                                              \
                : LIST_32(constraint, 0), LIST_32(constraint, 32), LIST_32(constraint, 64), \
                  LIST_32(constraint, 96)                                                   \
                : "l"(a), "l"(b), "r"(scale));                                              \
        }                                                                                   \
    };
#define LIST_8(constraint, at)                                                     \
    constraint(sum[at]), constraint(sum[at + 1]), constraint(sum[at + 2]),         \
        constraint(sum[at + 3]), constraint(sum[at + 4]), constraint(sum[at + 5]), \
        constraint(sum[at + 6]), constraint(sum[at + 7])
#define LIST_32(constraint, at)                                                      \
    LIST_8(constraint, at), LIST_8(constraint, at + 8), LIST_8(constraint, at + 16), \
        LIST_8(constraint, at + 24)

ROW_PRODUCT_64(__half, float, "k16.f32.f16.f16", "+f", ", 1, 1, 0, 0")
ROW_PRODUCT_128(__half, float, "k16.f32.f16.f16", "+f", ", 1, 1, 0, 0")
ROW_PRODUCT_256(__half, float, "k16.f32.f16.f16", "+f", ", 1, 1, 0, 0")
ROW_PRODUCT_64(__nv_bfloat16, float, "k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0")
ROW_PRODUCT_128(__nv_bfloat16, float, "k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0")
ROW_PRODUCT_256(__nv_bfloat16, float, "k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0")
struct E4m3 {
    unsigned char bits;
};
ROW_PRODUCT_64(E4m3, float, "k32.f32.e4m3.e4m3", "+f", ", 1, 1")
ROW_PRODUCT_256(E4m3, float, "k32.f32.e4m3.e4m3", "+f", ", 1, 1")
ROW_PRODUCT_128(E4m3, float, "k32.f32.e4m3.e4m3", "+f", ", 1, 1")
ROW_PRODUCT_64(signed char, int, "k32.s32.s8.s8", "+r", "")
ROW_PRODUCT_256(signed char, int, "k32.s32.s8.s8", "+r", "")
ROW_PRODUCT_128(signed char, int, "k32.s32.s8.s8", "+r", "")

// Four products: 64 rows of A, a stage of k. Both tiles begin at multiples of 1024 bytes.
template <class T, int columns, class Sum>
__device__ __forceinline__ void multiply_stage(Sum (&sum)[columns / 2], unsigned a, unsigned b,
                                               bool adds) {
    constexpr int kStepBytes = 32;  // of k, in all types
#pragma unroll
    for (int depth = 0; depth < kRowBytes; depth += kStepBytes)
        RowProduct<T, columns>::run(sum, descriptor(a + depth, 16, 1024),
                                    descriptor(b + depth, 16, 1024), adds || depth != 0);
}

}  // namespace ladder
