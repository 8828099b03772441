// SPDX-License-Identifier: Apache-2.0
// Elements taken from and put to places that indices say: Gather, GatherElements, GatherND,
// ScatterElements, ScatterND, embeddings. Negative indices count from the end. Any grid. take: a
// thread an element; put: a thread for each of `ordered` columns of elements that never meet, which
// puts its own one after the other, so that results are the same every time.
#include "elements.cuh"

using namespace lockstep::kernels;

/// The place of element i in the data, or -1 where an index is out of range.
__device__ __forceinline__ int place_of(const Take& p, int i) {
    int offset = 0, at = 0, index[kIndexDims];
#pragma unroll
    for (int d = kIndexDims - 1; d > 0; --d) i = divide(i, p.dims[d], index[d]);
    index[0] = i;
#pragma unroll
    for (int d = 0; d < kIndexDims; ++d) {
        offset += index[d] * p.data_stride[d];
        at += index[d] * p.index_stride[d];
    }
    for (int d = 0; d < p.depth; ++d) {
        const int from = at + d * p.index_step;
        long long j = p.index_type == Type::kInt64 ? static_cast<const long long*>(p.indices)[from]
                                                   : static_cast<const int*>(p.indices)[from];
        if (j < 0) j += p.extent[d];
        if (j < 0 || j >= p.extent[d]) {
            atomicMax(p.fault, p.node + 1);
            return -1;
        }
        offset += static_cast<int>(j) * p.along[d];
    }
    return offset;
}

extern "C" __global__ void __launch_bounds__(256) take(const Take p) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += gridDim.x * blockDim.x) {
        const int place = place_of(p, i);
        if (place < 0) continue;
        with_type(p.type, p.data, [&](const auto* data) {
            using T = std::remove_const_t<std::remove_reference_t<decltype(*data)>>;
            static_cast<T*>(p.values)[i] = data[place];
        });
    }
}

__device__ __forceinline__ void put_one(const Take& p, int i) {
    const int place = place_of(p, i);
    if (place < 0) return;
    with_type(p.type, p.data, [&](auto* data) {
        using T = std::remove_reference_t<decltype(*data)>;
        const T value = static_cast<const T*>(p.values)[i];
        if (p.operation == 0) {
            data[place] = value;
        } else if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) {
            const float old = to_float(data[place]), x = to_float(value);
            data[place] = from_float<T>(p.operation == 1 ? old + x : old * x);
        } else {
            data[place] =
                static_cast<T>(p.operation == 1 ? data[place] + value : data[place] * value);
        }
    });
}

extern "C" __global__ void __launch_bounds__(256) put(const Take p) {
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < p.ordered;
         column += gridDim.x * blockDim.x)
        for (int i = column; i < p.count; i += p.ordered) put_one(p, i);
}

/// What comes before element i of a row of `extent`: larger ones (smaller ones), and of equal ones
/// those with lower indices. A NaN is the largest.
extern "C" __global__ void __launch_bounds__(256) top_rows(const Top p) {
    int row = blockIdx.x, in = 0, values = 0, indices = 0;
    int index[kRowDims];
#pragma unroll
    for (int d = kRowDims - 1; d > 0; --d) row = divide(row, p.kept[d], index[d]);
    index[0] = row;
#pragma unroll
    for (int d = 0; d < kRowDims; ++d) {
        in += index[d] * p.in.kept[d];
        values += index[d] * p.values.kept[d];
        indices += index[d] * p.indices.kept[d];
    }
    with_type(p.in.type, p.in.data, [&](const auto* x) {
        using T = std::remove_const_t<std::remove_reference_t<decltype(*x)>>;
        const auto less = [](auto a, auto b) { return a < b || (a == a && b != b); };
        const auto value = [&](int i) {
            if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>)
                return x[in + i * p.in.along];
            else
                return to_float(x[in + i * p.in.along]);
        };
        for (int i = threadIdx.x; i < p.extent; i += blockDim.x) {
            const auto mine = value(i);
            int before = 0;
            for (int j = 0; j < p.extent && before < p.wanted; ++j) {
                const auto other = value(j);
                const bool better = p.largest ? less(mine, other) : less(other, mine);
                const bool worse = p.largest ? less(other, mine) : less(mine, other);
                before += better || (!worse && j < i);
            }
            if (before >= p.wanted) continue;
            if (p.values.data != nullptr)
                static_cast<T*>(p.values.data)[values + before * p.values.along] =
                    x[in + i * p.in.along];
            if (p.indices.data != nullptr)
                static_cast<long long*>(p.indices.data)[indices + before * p.indices.along] = i;
        }
    });
}
