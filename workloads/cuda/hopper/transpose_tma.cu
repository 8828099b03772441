// SPDX-License-Identifier: Apache-2.0
// out[x][y] = in[y][x] by tiles of 32 x 32. TMA swizzles both tiles by 128 bytes: the 16 bytes at
// column c of row r lie at column c ^ (r % 8), so that neither rows nor columns of a tile meet in
// one bank more often than need be.
#include "tma.cuh"

constexpr int kTile = 32;

// Index of an element of a swizzled tile.
__device__ __forceinline__ int swizzled(int row, int column) {
    return row * kTile + (((column / 4) ^ (row % 8)) * 4 | column % 4);
}

extern "C" __global__ void __launch_bounds__(256)
    transpose_tma(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
    __shared__ __align__(1024) float from[kTile * kTile];
    __shared__ __align__(1024) float to[kTile * kTile];
    __shared__ tma::Barrier full;
    const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
    if (threadIdx.x == 0) {
        tma::init(full, 1);
        tma::publish();
        tma::arrive_and_expect(full, sizeof from);
        tma::load(from, in, x, y, full);
    }
    __syncthreads();
    tma::wait(full, 0);
    for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
        const int row = i / kTile, column = i % kTile;
        to[swizzled(column, row)] = from[swizzled(row, column)];
    }
    tma::publish();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma::store(out, y, x, to);
        tma::commit_stores();
        tma::wait_for_stores<0>();
    }
}
