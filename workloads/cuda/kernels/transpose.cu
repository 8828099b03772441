// SPDX-License-Identifier: Apache-2.0
// y[cols][rows] = x[rows][cols]. Block: 32x8 threads move a 32x32 tile; grid: (ceil(cols/32),
// ceil(rows/32)). Naive: one side strided. Shared: both sides coalesced, but a column of the tile
// lies in one bank. Padded: one more column, no conflicts.

extern "C" __global__ void transpose_naive(const float* x, float* y, int rows, int cols) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        const int row = blockIdx.y * 32 + i;
        if (row < rows && col < cols) y[(size_t)col * rows + row] = x[(size_t)row * cols + col];
    }
}

template <int width>
__device__ __forceinline__ void transpose_tile(float (&tile)[32][width], const float* x, float* y,
                                               int rows, int cols) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        const int row = blockIdx.y * 32 + i;
        if (row < rows && col < cols) tile[i][threadIdx.x] = x[(size_t)row * cols + col];
    }
    __syncthreads();
    const int row = blockIdx.y * 32 + threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        const int y_row = blockIdx.x * 32 + i;
        if (y_row < cols && row < rows) y[(size_t)y_row * rows + row] = tile[threadIdx.x][i];
    }
}

extern "C" __global__ void transpose_shared(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][32];
    transpose_tile(tile, x, y, rows, cols);
}

extern "C" __global__ void transpose_padded(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][33];
    transpose_tile(tile, x, y, rows, cols);
}
