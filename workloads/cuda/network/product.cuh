// SPDX-License-Identifier: Apache-2.0
// What all products share: which rows a thread fetches, where an index of k is, and what becomes of
// sums that lie in shared memory.
#pragma once

#include "functions.cuh"
#include "quantised.cuh"

namespace lockstep::kernels {

/// A batch, cut into its dimensions.
struct Batch {
    int index[kBatchDims];
    template <class P>
    __device__ __forceinline__ Batch(const P& p, int batch) {
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

/// Four sums of a piece of k to where those of the others come too.
__device__ __forceinline__ void put_partial(const Product& p, const float (&v)[4], int row,
                                            int column, int batch) {
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

/// Four sums of a row on their way out: through the epilogue, or into the partial sums.
__device__ __forceinline__ void put_sums(const Product& p, float (&v)[4], int row, int column,
                                         int batch, const Batch& at) {
    if (row >= p.m || column >= p.n) return;
    if (p.splits > 1) return put_partial(p, v, row, column, batch);
    run_epilogue(p.epilogue, v, row, column, p.n,
                 [&](const int(&stride)[kBatchDims]) { return at.offset(stride); });
}

/// Four elements of a kernel's own type.
template <class T>
__device__ __forceinline__ void load_four(const T* from, float (&v)[4]) {
    constexpr Type kType = std::is_same_v<T, float>    ? Type::kFp32
                           : std::is_same_v<T, __half> ? Type::kFp16
                                                       : Type::kBf16;
    load_vector(from, kType, 0, v);
}
template <class T>
__device__ __forceinline__ void store_four(T* to, const float (&v)[4]) {
    constexpr Type kType = std::is_same_v<T, float>    ? Type::kFp32
                           : std::is_same_v<T, __half> ? Type::kFp16
                                                       : Type::kBf16;
    store_vector(to, kType, 0, v);
}

/// Epilogue::is_simple of U fours at once, so that their operands are on their way together.
template <class T, int U, class BatchOffset>
__device__ __forceinline__ void run_simple(const Epilogue& e, float (&v)[U][4], const int (&row)[U],
                                           const int (&column)[U], const bool (&valid)[U],
                                           BatchOffset&& batch) {
    float x[U][4];
    const auto add = [&](const ProductOperand& operand) {
        const T* const from = static_cast<const T*>(operand.data) + batch(operand.batch);
#pragma unroll
        for (int u = 0; u < U; ++u)
            if (valid[u]) load_four(from + row[u] * operand.row + column[u], x[u]);
#pragma unroll
        for (int u = 0; u < U; ++u)
#pragma unroll
            for (int i = 0; i < 4; ++i) v[u][i] += x[u][i];
    };
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
        for (int i = 0; i < 4; ++i) v[u][i] *= e.factor;
    if (e.bias >= 0) add(e.operand[e.bias]);
    if (e.residual >= 0) add(e.operand[e.residual]);
    T* const to = static_cast<T*>(e.out) + batch(e.batch);
#pragma unroll
    for (int u = 0; u < U; ++u) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            v[u][i] = v[u][i] < e.low ? e.low : v[u][i];
            v[u][i] = e.high < v[u][i] ? e.high : v[u][i];
        }
        if (valid[u]) store_four(to + row[u] * e.row + column[u], v[u]);
    }
}

/// `Rows` rows of N sums in shared memory on their way out; row_of(i) is the product's row.
template <class T, int Rows, int N, int Threads, class RowOf>
__device__ __forceinline__ void put_tile(const Product& p, const float (*sums)[N + 4], int column0,
                                         int batch, const Batch& at, RowOf&& row_of) {
    constexpr int kUnits = Rows * N / 4, kAtOnce = 4;
    static_assert(kUnits % (Threads * kAtOnce) == 0);
    const auto offset = [&](const int(&stride)[kBatchDims]) { return at.offset(stride); };
    if (p.splits == 1 && p.epilogue.is_simple) {
#pragma unroll 1
        for (int first = threadIdx.x; first < kUnits; first += Threads * kAtOnce) {
            float v[kAtOnce][4];
            int row[kAtOnce], column[kAtOnce];
            bool valid[kAtOnce];
#pragma unroll
            for (int u = 0; u < kAtOnce; ++u) {
                const int unit = first + u * Threads;
                load_four(&sums[unit / (N / 4)][unit % (N / 4) * 4], v[u]);
                row[u] = row_of(unit / (N / 4));
                column[u] = column0 + unit % (N / 4) * 4;
                valid[u] = row[u] < p.m && column[u] < p.n;
            }
            run_simple<T, kAtOnce>(p.epilogue, v, row, column, valid, offset);
        }
        return;
    }
#pragma unroll 1
    for (int unit = threadIdx.x; unit < kUnits; unit += Threads) {
        float v[4];
        load_four(&sums[unit / (N / 4)][unit % (N / 4) * 4], v);
        put_sums(p, v, row_of(unit / (N / 4)), column0 + unit % (N / 4) * 4, batch, at);
    }
}

/// The same of integer sums, which lie there as they are.
template <int Rows, int N, int Threads, class RowOf>
__device__ __forceinline__ void put_integer_tile(const Product& p, const float (*sums)[N + 4],
                                                 int column0, int batch, const Batch& at,
                                                 RowOf&& row_of) {
    const Epilogue& e = p.epilogue;
    const int bias = at.offset(e.operand[0].batch), scale = at.offset(e.operand[1].batch),
              out = at.offset(e.batch);
#pragma unroll 1
    for (int unit = threadIdx.x; unit < Rows * N / 4; unit += Threads) {
        const int column = column0 + unit % (N / 4) * 4, row = row_of(unit / (N / 4));
        if (row >= p.m || column >= p.n) continue;
        const float4 bits =
            *reinterpret_cast<const float4*>(&sums[unit / (N / 4)][unit % (N / 4) * 4]);
        if (p.splits == 1) {
            const int four[4] = {__float_as_int(bits.x), __float_as_int(bits.y),
                                 __float_as_int(bits.z), __float_as_int(bits.w)};
            put_integers(e, four, row, column, p.n, bias, scale, out);
        } else {
            const float v[4] = {bits.x, bits.y, bits.z, bits.w};
            put_partial(p, v, row, column, batch);
        }
    }
}

}  // namespace lockstep::kernels
