// SPDX-License-Identifier: Apache-2.0
// One step of a five-point stencil on a grid with zeros around it:
//   out[y][x] = centre * in[y][x] + side * (in[y][x-1] + in[y][x+1] + in[y-1][x] + in[y+1][x]).
// A CTA goes down a column of tiles. TMA loads each tile with its border, the next `stages` - 1
// ahead, and fills what lies outside of the grid; it stores results from shared memory.
#include "tma.cuh"

constexpr int kWidth = 32, kHeight = 16;  // of a tile
// Boxes begin and end at multiples of 16 bytes, and so 4 columns beside the tile where 1 is needed.
constexpr int kBeside = 4;
constexpr int kBoxWidth = kWidth + 2 * kBeside, kBoxHeight = kHeight + 2;
constexpr int kMaxStages = 4;
constexpr unsigned kBoxBytes = kBoxWidth * kBoxHeight * sizeof(float);
constexpr unsigned kBoxPitch = (kBoxBytes + 127) / 128 * 128;  // tiles begin at multiples of 128

extern "C" __global__ void __launch_bounds__(256)
    stencil_tma(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                int tiles, int stages, float centre, float side) {
    extern __shared__ __align__(128) unsigned char boxes[];
    __shared__ __align__(128) float result[2][kHeight][kWidth];
    __shared__ tma::Barrier full[kMaxStages];
    const int x = blockIdx.x * kWidth, first = blockIdx.y * tiles;
    const bool leads = threadIdx.x == 0;
    const auto fetch = [&](int tile) {
        const int stage = tile % stages;
        tma::arrive_and_expect(full[stage], kBoxBytes);
        tma::load(boxes + stage * kBoxPitch, in, x - kBeside, (first + tile) * kHeight - 1,
                  full[stage]);
    };
    if (leads) {
        for (int stage = 0; stage < stages; ++stage) tma::init(full[stage], 1);
        tma::publish();
        for (int tile = 0; tile < min(stages - 1, tiles); ++tile) fetch(tile);
    }
    __syncthreads();
    for (int tile = 0; tile < tiles; ++tile) {
        // The buffer of the tile before this one is free: all threads have passed the barrier.
        if (leads && tile + stages - 1 < tiles) fetch(tile + stages - 1);
        const int stage = tile % stages;
        tma::wait(full[stage], tile / stages & 1);
        const float(*box)[kBoxWidth] =
            reinterpret_cast<const float(*)[kBoxWidth]>(boxes + stage * kBoxPitch);
        float(*to)[kWidth] = result[tile % 2];
        for (unsigned i = threadIdx.x; i < kWidth * kHeight; i += blockDim.x) {
            const int column = i % kWidth + kBeside, row = i / kWidth + 1;
            const float around = box[row][column - 1] + box[row][column + 1] +
                                 box[row - 1][column] + box[row + 1][column];
            to[row - 1][column - kBeside] = centre * box[row][column] + side * around;
        }
        tma::publish();
        __syncthreads();
        if (leads) {
            tma::store(out, x, (first + tile) * kHeight, to);
            tma::commit_stores();
            tma::wait_for_stores<1>();  // the other buffer of results is free
        }
        __syncthreads();
    }
    if (leads) tma::wait_for_stores<0>();
}
