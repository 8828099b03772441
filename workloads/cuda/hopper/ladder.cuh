// SPDX-License-Identifier: Apache-2.0
// Parts of the matrix products of hgemm_ladder.cu: C[m][n] = A[m][k] * B[n][k]^T, both operands
// with rows along k, brought by TMA in pieces of 128 bytes a row with the 128-byte swizzle.
#pragma once

#include "row_product.cuh"
#include "tma.cuh"

namespace ladder {

constexpr int kRows = 128;  // of C's tile in most steps
constexpr int kWarpgroup = 128;

// ---- Barriers ----------------------------------------------------------------------------------

__device__ __forceinline__ void arrive(tma::Barrier& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(tma::shared_address(&barrier))
                 : "memory");
}
// At the barrier in the same place of another CTA of the cluster.
__device__ __forceinline__ void arrive_at(tma::Barrier& barrier, unsigned rank) {
    asm volatile(
        "{\n.reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(
            tma::shared_address(&barrier)),
        "r"(rank)
        : "memory");
}
__device__ __forceinline__ unsigned cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ __forceinline__ void sync_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}
// To the same place in all CTAs of the mask, each of whose barriers counts the bytes.
__device__ __forceinline__ void load_multicast(void* tile, const CUtensorMap& matrix, int x, int y,
                                               tma::Barrier& barrier, unsigned short mask) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(tma::shared_address(tile)),
        "l"(&matrix), "r"(tma::shared_address(&barrier)), "r"(x), "r"(y), "h"(mask)
        : "memory");
}
template <int registers>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

// ---- Results -----------------------------------------------------------------------------------

template <class T>
struct Pair;
template <>
struct Pair<__nv_bfloat16> {
    using Type = __nv_bfloat162;
    __device__ static Type of(float x, float y) { return __floats2bfloat162_rn(x, y); }
};
template <>
struct Pair<float> {
    using Type = float2;
    __device__ static Type of(float x, float y) { return make_float2(x, y); }
};
template <>
struct Pair<int> {
    using Type = int2;
    __device__ static Type of(int x, int y) { return make_int2(x, y); }
};

// 64 rows of a tile whose first element is at (row0, col0), by the 128 threads of a warpgroup.
// C has `pitch` elements a row, an even number.
template <class Out, int registers, class Sum>
__device__ __forceinline__ void store_rows(const Sum (&sum)[registers], Out* c, int row0, int col0,
                                           int m, int pitch) {
    const int thread = threadIdx.x % kWarpgroup;
    const int row = row0 + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < registers; i += 2) {
        const int r = row + i / 2 % 2 * 8, col = col0 + i / 4 * 8 + thread % 4 * 2;
        if (r < m && col < pitch)
            *reinterpret_cast<typename Pair<Out>::Type*>(c + (size_t)r * pitch + col) =
                Pair<Out>::of(sum[i], sum[i + 1]);
    }
}

// The same by way of shared memory and TMA: blocks of 64 x 64 with the 128-byte swizzle, after each
// other. Ends once the copies have been started.
template <int registers>
__device__ __forceinline__ void store_by_tma(const float (&sum)[registers], char* staging,
                                             const CUtensorMap& c, int row0, int col0) {
    constexpr int kBlock = 64 * kRowBytes, kBlockColumns = 64;
    const int thread = threadIdx.x % kWarpgroup, warpgroup = threadIdx.x / kWarpgroup;
    if (thread == 0) tma::wait_for_stores<0>();  // the tile before has been read
    asm volatile("bar.sync %0, 128;" ::"r"(warpgroup + 1) : "memory");
    const int row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < registers; i += 2) {
        const int r = row + i / 2 % 2 * 8, col = i / 4 * 8 + thread % 4 * 2;
        *reinterpret_cast<__nv_bfloat162*>(staging + col / kBlockColumns * kBlock +
                                           swizzled(r, col % kBlockColumns / 8) + col % 8 * 2) =
            __floats2bfloat162_rn(sum[i], sum[i + 1]);
    }
    tma::publish();
    asm volatile("bar.sync %0, 128;" ::"r"(warpgroup + 1) : "memory");
    if (thread != 0) return;
    for (int block = 0; block < registers * 2 / kBlockColumns; ++block)
        tma::store(c, col0 + block * kBlockColumns, row0, staging + block * kBlock);
    tma::commit_stores();
}

// ---- Tiles -------------------------------------------------------------------------------------

// The tiles of C by number: row by row, or, shared, 16 tile rows by as many columns as it takes, so
// that the CTAs that run at the same time share operands in the L2.
template <bool shared>
struct Tiles {
    int rows, columns;
    __device__ int count() const { return rows * columns; }
    __device__ void find(int number, int& row, int& column) const {
        if (!shared) {
            row = number / columns;
            column = number % columns;
            return;
        }
        constexpr int kGroup = 16;
        const int group = number / (kGroup * columns), first = group * kGroup;
        const int height = min(rows - first, kGroup), within = number % (kGroup * columns);
        row = first + within % height;
        column = within / height;
    }
};

}  // namespace ladder
