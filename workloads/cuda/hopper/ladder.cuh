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

// The state returned is that of the phase which it is an arrival of.
__device__ __forceinline__ unsigned long long arrive(tma::Barrier& barrier) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(tma::shared_address(&barrier))
                 : "memory");
    return state;
}
__device__ __forceinline__ unsigned long long arrive_and_expect(tma::Barrier& barrier,
                                                                unsigned bytes) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(tma::shared_address(&barrier)), "r"(bytes)
                 : "memory");
    return state;
}
// Until the phase of this state is over.
__device__ __forceinline__ void wait(tma::Barrier& barrier, unsigned long long state) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again:\nmbarrier.try_wait.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
            tma::shared_address(&barrier)),
        "l"(state)
        : "memory");
}
// At the barrier in the same place of another CTA of the cluster. What the warpgroup has read, it
// has waited for, and it has written nothing: no release beyond the CTA, which is a fence of the
// GPU.
__device__ __forceinline__ void arrive_at(tma::Barrier& barrier, unsigned rank) {
    asm volatile(
        "{\n.reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(tma::shared_address(&barrier)),
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

// The same where C has `pitch` elements a column, by single elements: a warp's store of eight rows
// of four columns.
template <int registers>
__device__ __forceinline__ void store_columns(const float (&sum)[registers], __nv_bfloat16* c,
                                              int row0, int col0, int n, int pitch) {
    const int thread = threadIdx.x % kWarpgroup;
    const int row = row0 + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < registers; ++i) {
        const int r = row + i / 2 % 2 * 8, col = col0 + i / 4 * 8 + thread % 4 * 2 + i % 2;
        if (r < pitch && col < n) c[(size_t)col * pitch + r] = __float2bfloat16(sum[i]);
    }
}

// The same by way of shared memory, where a column is 128 bytes, and TMA. Ends once the copy has
// been started.
template <int registers>
__device__ __forceinline__ void store_by_tma(const float (&sum)[registers], char* staging,
                                             const CUtensorMap& c, int row0, int col0) {
    const int thread = threadIdx.x % kWarpgroup, warpgroup = threadIdx.x / kWarpgroup;
    if (thread == 0) tma::wait_for_stores<0>();  // the tile before has been read
    asm volatile("bar.sync %0, 128;" ::"r"(warpgroup + 1) : "memory");
    const int row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < registers; ++i) {
        const int r = row + i / 2 % 2 * 8, col = i / 4 * 8 + thread % 4 * 2 + i % 2;
        reinterpret_cast<__nv_bfloat16*>(staging + col * kRowBytes)[r] = __float2bfloat16(sum[i]);
    }
    tma::publish();
    asm volatile("bar.sync %0, 128;" ::"r"(warpgroup + 1) : "memory");
    if (thread != 0) return;
    tma::store(c, row0, col0, staging);
    tma::commit_stores();
}

// ---- Tiles -------------------------------------------------------------------------------------

// How the tiles of C follow each other.
enum class Order {
    kRows,     // row by row
    kBlocks,   // in blocks of 16 rows by 8 columns: CTAs of one time share operands in the L2
    kHilbert,  // along a Hilbert curve: so do those of one time and the next
};

// Point `distance` of the Hilbert curve that fills a square of `side` by `side`, a power of two.
__device__ inline void hilbert_point(int side, int distance, int& row, int& column) {
    row = column = 0;
    for (int s = 1; s < side; s *= 2, distance /= 4) {
        const int down = distance / 2 & 1, right = (distance ^ down) & 1;
        if (right == 0) {
            if (down == 1) {
                row = s - 1 - row;
                column = s - 1 - column;
            }
            const int swap = row;
            row = column;
            column = swap;
        }
        row += s * down;
        column += s * right;
    }
}

// The tiles of C by number. Those of a cluster lie one above the other; `rows` is a multiple of it.
template <Order order, int cluster>
struct Tiles {
    int rows, columns;
    __device__ int count() const { return rows * columns; }
    __device__ void find(int number, int& row, int& column) const {
        if (order == Order::kRows) {
            row = number / columns;
            column = number % columns;
            return;
        }
        const int rank = number % cluster, all = rows / cluster;
        number /= cluster;
        // A curve fills squares, the largest that the tiles have room for.
        const int side = 1 << (31 - __clz(min(all, columns)));
        const int block_rows = order == Order::kHilbert ? side : 16 / cluster;
        const int block_columns = order == Order::kHilbert ? side : 8;
        const int first = number / (block_rows * columns) * block_rows;
        const int height = min(all - first, block_rows);
        number -= first * columns;
        const int left = number / (height * block_columns) * block_columns;
        const int width = min(columns - left, block_columns);
        number -= height * left;
        if (order == Order::kHilbert && height == side && width == side) {
            hilbert_point(side, number, row, column);
        } else {
            row = number / width;
            column = number % width;
        }
        row = (first + row) * cluster + rank;
        column += left;
    }
};

}  // namespace ladder
