// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of a warpgroup (128 threads) by their PTX names, sm_90a. A descriptor
// says where a tile lies in shared memory; tiles here have rows of 128 bytes with the 128-byte
// swizzle: the 16 bytes at column c of row r lie at column c ^ (r % 8), and a tile begins at a
// multiple of 1024 bytes. See PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <cuda_fp16.h>

// Byte offset of 16 bytes in a tile of 128-byte rows.
__device__ __forceinline__ unsigned swizzled(unsigned row, unsigned column16) {
    return row * 128 + ((column16 ^ (row % 8)) << 4);
}

// Of a tile at an address in shared memory. `stride`: bytes between groups of eight rows;
// `leading`: between the groups of 64 columns of a tile whose rows run along m or n, otherwise not
// used.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, unsigned leading,
                                                         unsigned stride) {
    constexpr unsigned long long kSwizzle128 = 1ull << 62;
    return (address & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(stride >> 4) << 32 | kSwizzle128;
}

// Registers that were written before are read by the products that follow.
__device__ __forceinline__ void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most `groups` committed groups are still running.
template <int groups>
__device__ __forceinline__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
// What this thread has written to shared memory is seen by products that start afterwards.
__device__ __forceinline__ void publish_to_products() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// sum (64 x n, FP32: n/2 a thread) += A (64 x 16, FP16, rows along k) * B (16 x n, FP16, rows along
// n). Thread t of the warpgroup holds of row t/32*16 + t%32/4 (+8 for every other pair) columns
// 8j + t%4*2 and the next one: sum[4j + {0, 1}], of the second row sum[4j + {2, 3}].
template <int n>
struct Product;

#define SUM8(at)                                                                               \
    "+f"(sum[at]), "+f"(sum[at + 1]), "+f"(sum[at + 2]), "+f"(sum[at + 3]), "+f"(sum[at + 4]), \
        "+f"(sum[at + 5]), "+f"(sum[at + 6]), "+f"(sum[at + 7])
#define SUM32(at) SUM8(at), SUM8(at + 8), SUM8(at + 16), SUM8(at + 24)
#define NAMES_32                                                                                 \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24," \
    "%25,%26,%27,%28,%29,%30,%31"
#define NAMES_64                                                                                \
    NAMES_32                                                                                    \
    ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53," \
    "%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define NAMES_128                                                                                 \
    NAMES_64                                                                                      \
    ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,"   \
    "%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106," \
    "%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,"  \
    "%125,%126,%127"

template <>
struct Product<64> {
    __device__ __forceinline__ static void run(float (&sum)[32], unsigned long long a,
                                               unsigned long long b) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" NAMES_32
                     "}, %32, %33, 1, 1, 1, 0, 1;"
                     : SUM32(0)
                     : "l"(a), "l"(b));
    }
};

template <>
struct Product<128> {
    __device__ __forceinline__ static void run(float (&sum)[64], unsigned long long a,
                                               unsigned long long b) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_64
                     "}, %64, %65, 1, 1, 1, 0, 1;"
                     : SUM32(0), SUM32(32)
                     : "l"(a), "l"(b));
    }
};

template <>
struct Product<256> {
    __device__ __forceinline__ static void run(float (&sum)[128], unsigned long long a,
                                               unsigned long long b) {
        asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" NAMES_128
                     "}, %128, %129, 1, 1, 1, 0, 1;"
                     : SUM32(0), SUM32(32), SUM32(64), SUM32(96)
                     : "l"(a), "l"(b));
    }
};
