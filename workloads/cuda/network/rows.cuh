// SPDX-License-Identifier: Apache-2.0
// Rows: where they begin, and what a block does with one together.
#pragma once

#include "../kernels/block_reduce.cuh"
#include "elements.cuh"

namespace lockstep::kernels {

/// The sum of index . stride over the kept dimensions of row `row`.
__device__ __forceinline__ void row_index(int row, const Divider (&kept)[kRowDims],
                                          int (&index)[kRowDims]) {
#pragma unroll
    for (int d = kRowDims - 1; d > 0; --d) row = divide(row, kept[d], index[d]);
    index[0] = row;
}

__device__ __forceinline__ int row_offset(const int (&index)[kRowDims],
                                          const int (&stride)[kRowDims]) {
    int offset = 0;
#pragma unroll
    for (int d = 0; d < kRowDims; ++d) offset += index[d] * stride[d];
    return offset;
}

__device__ __forceinline__ float element(const RowOperand& x, int offset) {
    float v[1];
    load(x.data, x.type, offset, 0, v);
    return v[0];
}

__device__ __forceinline__ void put_element(const RowOperand& x, int offset, float value) {
    const float v[1] = {value};
    store(x.data, x.type, offset, 0, v);
}

}  // namespace lockstep::kernels
