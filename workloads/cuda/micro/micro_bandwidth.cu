// SPDX-License-Identifier: Apache-2.0
// Bandwidth of each level of memory, and what bank conflicts cost. What is loaded is added up, so
// that the compiler leaves the loads.
#include "micro.cuh"

// 32 accesses an iteration to shared memory, lane l at l * lane_stride bytes. One block.
#define SHARED(NAME, ACCESS)                                             \
    extern "C" __global__ void NAME(unsigned long long* cycles, unsigned* sums,         \
                                    int lane_stride, int iterations) {                  \
        __shared__ __align__(16) unsigned words[8192];                                  \
        for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = i;              \
        __syncthreads();                                                                \
        const unsigned address =                                                        \
            static_cast<unsigned>(__cvta_generic_to_shared(words)) +                    \
            threadIdx.x % 32 * lane_stride;                                             \
        unsigned sum = 0;                                                               \
        TIME_LOOP(REPEAT_4(ACCESS(0) ACCESS(16) ACCESS(32) ACCESS(48) ACCESS(64)        \
                               ACCESS(80) ACCESS(96) ACCESS(112)))                      \
        sums[threadIdx.x] = sum;                                                        \
    }
#define READ_32(offset)                                                                 \
    asm volatile("{.reg .u32 x; ld.volatile.shared.u32 x, [%1+" #offset "];"             \
                 "add.u32 %0, %0, x;}" : "+r"(sum) : "r"(address));
#define READ_64(offset)                                                                 \
    asm volatile("{.reg .u32 x, y; ld.volatile.shared.v2.u32 {x, y}, [%1+" #offset "];"  \
                 "add.u32 %0, %0, x; add.u32 %0, %0, y;}" : "+r"(sum) : "r"(address));
#define READ_128(offset)                                                                \
    asm volatile("{.reg .u32 x, y, z, w;"                                                \
                 "ld.volatile.shared.v4.u32 {x, y, z, w}, [%1+" #offset "];"             \
                 "add.u32 %0, %0, x; add.u32 %0, %0, y; add.u32 %0, %0, z;"              \
                 "add.u32 %0, %0, w;}" : "+r"(sum) : "r"(address));
#define WRITE_32(offset)                                                                \
    asm volatile("st.volatile.shared.u32 [%0+" #offset "], %1;" ::"r"(address), "r"(sum));
#define WRITE_128(offset)                                                               \
    asm volatile("st.volatile.shared.v4.u32 [%0+" #offset "], {%1, %1, %1, %1};"         \
                 ::"r"(address), "r"(sum));
SHARED(shared_read_32, READ_32)
SHARED(shared_read_64, READ_64)
SHARED(shared_read_128, READ_128)
SHARED(shared_write_32, WRITE_32)
SHARED(shared_write_128, WRITE_128)

// Eight loads an iteration by each thread from a buffer of `bytes` (a power of two), over and over:
// small buffers stay in L1. One block.
#define L1_READ(NAME, TYPE, ADD)                                                        \
    extern "C" __global__ void NAME(unsigned long long* cycles, const char* buffer,     \
                                    unsigned* sums, int bytes, int iterations) {        \
        unsigned sum = 0, offset = 0;                                                   \
        const int span = blockDim.x * sizeof(TYPE);                                     \
        const char* mine = buffer + threadIdx.x * sizeof(TYPE);                         \
        TIME_LOOP(                                                                      \
            _Pragma("unroll") for (int k = 0; k < 8; ++k) {                             \
                const TYPE v = *reinterpret_cast<const TYPE*>(mine + offset + k * span); \
                ADD                                                                     \
            } offset = (offset + 8 * span) & (bytes - 1);)                              \
        sums[threadIdx.x] = sum;                                                        \
    }
L1_READ(l1_read_32, unsigned, sum += v;)
L1_READ(l1_read_64, uint2, sum += v.x + v.y;)
L1_READ(l1_read_128, uint4, sum += v.x + v.y + v.z + v.w;)

// Eight loads an iteration that hit L1, 64 threads at `stride` elements, the others where they are.
// The first element is zero, which keeps the compiler from doing them once. One block.
#define L1_STRIDE(NAME, TYPE)                                                           \
    extern "C" __global__ void NAME(unsigned long long* cycles, const TYPE* buffer,     \
                                    unsigned* sums, int stride, int iterations) {       \
        TYPE sum = 0;                                                                   \
        const int zero = static_cast<int>(buffer[0]);                                   \
        const TYPE* mine = buffer + threadIdx.x % 64 * stride;                          \
        TIME_LOOP(mine += zero; _Pragma("unroll") for (int k = 0; k < 8; ++k) {         \
            sum += mine[4 * k];                                                         \
        })                                                                              \
        const auto wide = static_cast<unsigned long long>(sum);                         \
        sums[threadIdx.x] = static_cast<unsigned>(wide ^ wide >> 32);                   \
    }
L1_STRIDE(l1_stride_32, unsigned)
L1_STRIDE(l1_stride_64, unsigned long long)

// The whole chip: `passes` over `count` elements of 16 bytes by any grid; a block begins where its
// number says, so that blocks do not ask for the same line at once. Past L1 (.cg).
extern "C" __global__ void l2_read(const uint4* buffer, unsigned* sums, int count, int passes) {
    const int threads = gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (int pass = 0; pass < passes; ++pass) {
        int i = (blockIdx.x + pass) % gridDim.x * blockDim.x + threadIdx.x;
        for (; i + 3 * threads < count; i += 4 * threads) {
            uint4 v[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) v[k] = __ldcg(buffer + i + k * threads);
#pragma unroll
            for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
        }
        for (; i < count; i += threads) {
            const uint4 v = __ldcg(buffer + i);
            sum += v.x + v.y + v.z + v.w;
        }
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The whole chip: a block of 1024 threads reads one of `chunks` chunks, `loads` (a multiple of four)
// times 16 KiB, which lie interleaved; each chunk is read by many blocks, and each block at its own
// time. Past L1.
extern "C" __global__ void l2_chunks(const uint4* buffer, unsigned* sums, int chunks, int loads) {
    const int at = blockIdx.x % chunks * 1024 + threadIdx.x, span = chunks * 1024;
    unsigned sum = 0;
    for (int i = 0; i < loads; i += 4) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = __ldcg(buffer + at + (i + k) * span);
#pragma unroll
        for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    sums[at] = sum;
}

extern "C" __global__ void stream_write(uint4* buffer, int count, int passes) {
    const int threads = gridDim.x * blockDim.x;
    for (int pass = 0; pass < passes; ++pass) {
        int i = (blockIdx.x + pass) % gridDim.x * blockDim.x + threadIdx.x;
        const uint4 v = {1u, 2u, 3u, 4u};
#pragma unroll 4
        for (; i < count; i += threads) buffer[i] = v;
    }
}

extern "C" __global__ void stream_read(const uint4* buffer, unsigned* sums, int count) {
    const int threads = gridDim.x * blockDim.x;
    unsigned sum = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * threads < count; i += 4 * threads) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = buffer[i + k * threads];
#pragma unroll
        for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    for (; i < count; i += threads) {
        const uint4 v = buffer[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void stream_copy(const uint4* from, uint4* to, int count) {
    const int threads = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * threads < count; i += 4 * threads) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = from[i + k * threads];
#pragma unroll
        for (int k = 0; k < 4; ++k) to[i + k * threads] = v[k];
    }
    for (; i < count; i += threads) to[i] = from[i];
}
