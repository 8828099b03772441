// SPDX-License-Identifier: Apache-2.0
// wgmma: how long a product takes until its wait returns, and how often the SM takes one. All
// elements of A are equal, and all of B, so that the layout does not matter; the host picks them so
// that each product adds one and the same number to every accumulator. Block: 128 threads for each
// warpgroup.
#include "../micro/micro.cuh"
#include "warpgroup.cuh"

constexpr unsigned kBytesA = 64 * 32, kBytesB = 256 * 64;

// Without a swizzle, 8 x 16 bytes after the other: across k, then down the rows.
__device__ __forceinline__ unsigned long long plain_descriptor(unsigned address) {
    return address >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

// PRODUCT is one wgmma of sum, a, b; a_part and metadata where A is in registers or sparse.
#define WGMMA(NAME, TYPE, REGISTERS, PRODUCT)                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                          \
        wgmma_##NAME(unsigned long long* cycles, TYPE* result, const unsigned* patterns,       \
                     int iterations) {                                                         \
        __shared__ __align__(1024) unsigned memory[(kBytesA + kBytesB) / 4];                   \
        const unsigned pattern_a = patterns[0], pattern_b = patterns[1];                       \
        const unsigned metadata = patterns[2];                                                 \
        const unsigned a_part[4] = {pattern_a, pattern_a, pattern_a, pattern_a};               \
        for (unsigned i = threadIdx.x; i < (kBytesA + kBytesB) / 4; i += blockDim.x)           \
            memory[i] = i < kBytesA / 4 ? pattern_a : pattern_b;                               \
        publish_to_products();                                                                 \
        __syncthreads();                                                                       \
        const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(memory));        \
        const unsigned long long a = plain_descriptor(first);                                  \
        const unsigned long long b = plain_descriptor(first + kBytesA);                        \
        TYPE sum[REGISTERS] = {};                                                              \
        unsigned long long issued = 0, returned = 0, begin = 0, end = 0;                       \
        _Pragma("unroll 1") for (int round = 0; round < 2; ++round) {                          \
            __syncthreads();                                                                   \
            begin_products();                                                                  \
            PRODUCT;                                                                           \
            commit_products();                                                                 \
            issued = clock_now();                                                              \
            wait_for_products<0>();                                                            \
            returned = clock_now();                                                            \
        }                                                                                      \
        if (threadIdx.x == 0) cycles[64] = returned - issued;                                  \
        _Pragma("unroll 1") for (int round = 0; round < 2; ++round) {                          \
            __syncthreads();                                                                   \
            begin = clock_now();                                                               \
            _Pragma("unroll 1") for (int i = 0; i < iterations; ++i) {                         \
                begin_products();                                                              \
                REPEAT_16(PRODUCT;)                                                            \
                commit_products();                                                             \
                wait_for_products<1>();                                                        \
            }                                                                                  \
            wait_for_products<0>();                                                            \
            end = clock_now();                                                                 \
        }                                                                                      \
        note(cycles, begin, end);                                                              \
        _Pragma("unroll") for (int i = 0; i < REGISTERS; ++i)                                  \
            result[threadIdx.x * REGISTERS + i] = sum[i];                                      \
    }

// Accumulators by constraint, and their names in the text; then the operands that follow them.
#define LIST_4(c) c(sum[0]), c(sum[1]), c(sum[2]), c(sum[3])
#define LIST_8_AT(c, i)                                                                        \
    c(sum[i]), c(sum[i + 1]), c(sum[i + 2]), c(sum[i + 3]), c(sum[i + 4]), c(sum[i + 5]),      \
        c(sum[i + 6]), c(sum[i + 7])
#define LIST_8(c) LIST_8_AT(c, 0)
#define LIST_16_AT(c, i) LIST_8_AT(c, i), LIST_8_AT(c, i + 8)
#define LIST_16(c) LIST_16_AT(c, 0)
#define LIST_32_AT(c, i) LIST_16_AT(c, i), LIST_16_AT(c, i + 16)
#define LIST_32(c) LIST_32_AT(c, 0)
#define LIST_64(c) LIST_32_AT(c, 0), LIST_32_AT(c, 32)
#define LIST_128(c) LIST_32_AT(c, 0), LIST_32_AT(c, 32), LIST_32_AT(c, 64), LIST_32_AT(c, 96)
#define NAMES_4 "%0,%1,%2,%3"
#define NAMES_8 NAMES_4 ",%4,%5,%6,%7"
#define NAMES_16 NAMES_8 ",%8,%9,%10,%11,%12,%13,%14,%15"

#define SHARED(COUNT, CONSTRAINT, SHAPE, A, B, TAIL)                                           \
    asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" NAMES_##COUNT "}, " A ", " B ", 1" TAIL \
                 ";"                                                                           \
                 : LIST_##COUNT(CONSTRAINT)                                                    \
                 : "l"(a), "l"(b))
#define REGISTERS(COUNT, CONSTRAINT, SHAPE, A, B, TAIL)                                        \
    asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" NAMES_##COUNT "}, {" A "}, " B ", 1" TAIL \
                 ";"                                                                           \
                 : LIST_##COUNT(CONSTRAINT)                                                    \
                 : "r"(a_part[0]), "r"(a_part[1]), "r"(a_part[2]), "r"(a_part[3]), "l"(b))
#define SPARSE_SHARED(COUNT, CONSTRAINT, SHAPE, A, B, METADATA, TAIL)                          \
    asm volatile("wgmma.mma_async.sp.sync.aligned." SHAPE " {" NAMES_##COUNT "}, " A ", " B ", "    \
                 METADATA ", 0, 1" TAIL ";"                                                    \
                 : LIST_##COUNT(CONSTRAINT)                                                    \
                 : "l"(a), "l"(b), "r"(metadata))
#define SPARSE_REGISTERS(COUNT, CONSTRAINT, SHAPE, A, B, METADATA, TAIL)                       \
    asm volatile("wgmma.mma_async.sp.sync.aligned." SHAPE " {" NAMES_##COUNT "}, {" A "}, " B ", "  \
                 METADATA ", 0, 1" TAIL ";"                                                    \
                 : LIST_##COUNT(CONSTRAINT)                                                    \
                 : "r"(a_part[0]), "r"(a_part[1]), "r"(a_part[2]), "r"(a_part[3]), "l"(b),     \
                   "r"(metadata))
#define FLOATS "+f"
#define WORDS "+r"
#define SIGNS_16 ", 1, 1, 0, 0"      // scale-A, scale-B, transpositions
#define SIGNS_16_RS ", 1, 1, 0"
#define SIGNS_8 ", 1, 1"

WGMMA(f16_8, float, 4,
      SHARED(4, FLOATS, "m64n8k16.f32.f16.f16", "%4", "%5", SIGNS_16))
WGMMA(f16_16, float, 8,
      SHARED(8, FLOATS, "m64n16k16.f32.f16.f16", "%8", "%9", SIGNS_16))
WGMMA(f16_32, float, 16,
      SHARED(16, FLOATS, "m64n32k16.f32.f16.f16", "%16", "%17", SIGNS_16))
WGMMA(f16_64, float, 32,
      SHARED(32, FLOATS, "m64n64k16.f32.f16.f16", "%32", "%33", SIGNS_16))
WGMMA(f16_128, float, 64,
      SHARED(64, FLOATS, "m64n128k16.f32.f16.f16", "%64", "%65", SIGNS_16))
WGMMA(f16_256, float, 128,
      SHARED(128, FLOATS, "m64n256k16.f32.f16.f16", "%128", "%129", SIGNS_16))
WGMMA(f16_8_registers, float, 4,
      REGISTERS(4, FLOATS, "m64n8k16.f32.f16.f16", "%4,%5,%6,%7", "%8",
                SIGNS_16_RS))
WGMMA(f16_16_registers, float, 8,
      REGISTERS(8, FLOATS, "m64n16k16.f32.f16.f16", "%8,%9,%10,%11", "%12",
                SIGNS_16_RS))
WGMMA(f16_32_registers, float, 16,
      REGISTERS(16, FLOATS, "m64n32k16.f32.f16.f16", "%16,%17,%18,%19", "%20",
                SIGNS_16_RS))
WGMMA(f16_64_registers, float, 32,
      REGISTERS(32, FLOATS, "m64n64k16.f32.f16.f16", "%32,%33,%34,%35", "%36",
                SIGNS_16_RS))
WGMMA(f16_128_registers, float, 64,
      REGISTERS(64, FLOATS, "m64n128k16.f32.f16.f16", "%64,%65,%66,%67", "%68",
                SIGNS_16_RS))
WGMMA(f16_256_registers, float, 128,
      REGISTERS(128, FLOATS, "m64n256k16.f32.f16.f16", "%128,%129,%130,%131", "%132",
                SIGNS_16_RS))
WGMMA(tf32_256, float, 128,
      SHARED(128, FLOATS, "m64n256k8.f32.tf32.tf32", "%128", "%129", SIGNS_8))
WGMMA(e4m3_256, float, 128,
      SHARED(128, FLOATS, "m64n256k32.f32.e4m3.e4m3", "%128", "%129", SIGNS_8))
WGMMA(s8_256, unsigned, 128, SHARED(128, WORDS, "m64n256k32.s32.s8.s8", "%128", "%129", ""))
WGMMA(b1_256, unsigned, 128,
      SHARED(128, WORDS, "m64n256k256.s32.b1.b1.and.popc", "%128", "%129", ""))
WGMMA(sparse_f16_256, float, 128,
      SPARSE_SHARED(128, FLOATS, "m64n256k32.f32.f16.f16", "%128", "%129", "%130", SIGNS_16))
WGMMA(sparse_f16_256_registers, float, 128,
      SPARSE_REGISTERS(128, FLOATS, "m64n256k32.f32.f16.f16", "%128,%129,%130,%131", "%132", "%133",
                       SIGNS_16_RS))
