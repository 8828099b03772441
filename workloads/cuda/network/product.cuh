// SPDX-License-Identifier: Apache-2.0
// What all products share: which rows a thread fetches, where an index of k is, and what becomes of
// sums that lie in shared memory.
#pragma once

#include "functions.cuh"

namespace lockstep::kernels {

/// A batch, cut into its dimensions.
struct Batch {
    int index[kBatchDims];
    __device__ __forceinline__ Batch(const Product& p, int batch) {
        int rest = batch;
#pragma unroll
        for (int d = kBatchDims - 1; d > 0; --d) rest = divide(rest, p.batch[d], index[d]);
        index[0] = rest;
    }
    __device__ __forceinline__ int offset(const int (&stride)[kBatchDims]) const {
        int sum = 0;
#pragma unroll
        for (int d = 0; d < kBatchDims; ++d) sum += index[d] * stride[d];
        return sum;
    }
};

/// A row of A: where its window begins.
struct WindowRow {
    int offset, y, x;
    bool valid;
    __device__ __forceinline__ void set(const Product& p, int row) {
        valid = row < p.m;
        int line, column;
        const int image = divide(valid ? row : 0, p.pixels, line);
        line = divide(line, p.width, column);
        y = line * p.step_y - p.pad_y;
        x = column * p.step_x - p.pad_x;
        offset = image * p.a_image + y * p.a_y + x * p.a_x;
    }
};

/// An index of k: a tap of the window, and a channel.
struct Tap {
    int tap, channel, y, x;
    __device__ __forceinline__ Tap(const Product& p, int k) {
        tap = divide(k, p.channels, channel);
        int column;
        y = divide(tap, p.taps_x, column) * p.dilation_y;
        x = column * p.dilation_x;
    }
    __device__ __forceinline__ int in_a(const Product& p) const {
        return y * p.a_y + x * p.a_x + channel * p.a_k;
    }
    __device__ __forceinline__ int in_b(const Product& p) const {
        return tap * p.b_tap + channel * p.b_k;
    }
    __device__ __forceinline__ bool hits(const Product& p, const WindowRow& row) const {
        return row.valid && static_cast<unsigned>(row.y + y) < static_cast<unsigned>(p.in_y) &&
               static_cast<unsigned>(row.x + x) < static_cast<unsigned>(p.in_x);
    }
};

/// The chain of an epilogue on W consecutive columns; `batch`(operand) is the offset of the batch.
template <int W, class BatchOffset>
__device__ __forceinline__ void run_epilogue(const Epilogue& e, float (&v)[W], int row, int column,
                                             int columns, BatchOffset&& batch) {
#pragma unroll
    for (int i = 0; i < W; ++i) v[i] *= e.factor;
    run_chain(e.step, e.steps, v, [&](int slot, float(&x)[W]) {
        const ProductOperand& in = e.operand[slot];
        const int offset = row * in.row + column * in.column + batch(in.batch);
        if constexpr (W == 4)
            if (in.vector && column + 3 < columns && load_vector(in.data, in.type, offset, x))
                return;
        // Beyond the last column the last one stands in.
        with_type(in.type, in.data, [&](const auto* from) {
#pragma unroll
            for (int i = 0; i < W; ++i)
                x[i] = to_float(from[offset + min(i, columns - 1 - column) * in.column]);
        });
    });
    const int offset = row * e.row + column + batch(e.batch);
    if constexpr (W == 4)
        if (e.vector && column + 3 < columns && store_vector(e.out, e.type, offset, v)) return;
    with_type(e.type, e.out, [&](auto* to) {
        using T = std::remove_reference_t<decltype(*to)>;
#pragma unroll
        for (int i = 0; i < W; ++i)
            if (column + i < columns) to[offset + i] = from_float<T>(v[i]);
    });
}

/// Four sums of a row on their way out: through the epilogue, or where other splits come too.
__device__ __forceinline__ void put_sums(const Product& p, float (&v)[4], int row, int column,
                                         int batch, const Batch& at) {
    if (row >= p.m || column >= p.n) return;
    if (p.splits == 1) {
        run_epilogue(p.epilogue, v, row, column, p.n,
                     [&](const int(&stride)[kBatchDims]) { return at.offset(stride); });
        return;
    }
    const int batches = gridDim.z / p.splits, split = blockIdx.z / batches;
    float* const to =
        p.partial + (static_cast<size_t>(split * batches + batch) * p.m + row) * p.n + column;
    if (p.n % 4 == 0) {
        *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (column + i < p.n) to[i] = v[i];
}

}  // namespace lockstep::kernels
