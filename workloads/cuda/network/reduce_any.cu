// SPDX-License-Identifier: Apache-2.0
// Sums, products, extremes and their places over any dimensions of a tensor, in an order that the
// shape alone decides. reduce_block: one block for each result, for many elements that are
// consecutive; reduce_thread: one thread for each result, any grid, for results that are
// consecutive; reduce_columns: a row of eight warps for 32 of those; reduce_integer: as
// reduce_thread on integers, which wrap.
#include "rows.cuh"

using namespace lockstep::kernels;

/// A value and, where the place of an extreme is looked for, its index.
template <class T>
struct Best {
    T value;
    int index;
};

template <class T>
__device__ __forceinline__ T identity(Reduction reduction) {
    constexpr bool kReal = std::is_same_v<T, float>;
    const T low = kReal ? static_cast<T>(-INFINITY) : static_cast<T>(1ull << 63);
    const T high = kReal ? static_cast<T>(INFINITY) : static_cast<T>((1ull << 63) - 1);
    switch (reduction) {
        case Reduction::kProduct:
            return static_cast<T>(1);
        case Reduction::kMaximum:
        case Reduction::kFirstLargest:
        case Reduction::kLastLargest:
            return low;
        case Reduction::kMinimum:
        case Reduction::kFirstSmallest:
        case Reduction::kLastSmallest:
            return high;
        default:
            return static_cast<T>(0);
    }
}

/// An index below 0: of no element yet.
template <class T>
__device__ __forceinline__ Best<T> combine(Reduction reduction, Best<T> a, Best<T> b) {
    switch (reduction) {
        case Reduction::kProduct:
            return {static_cast<T>(a.value * b.value), 0};
        case Reduction::kMaximum:
            return {a.value < b.value ? b.value : a.value, 0};
        case Reduction::kMinimum:
            return {b.value < a.value ? b.value : a.value, 0};
        case Reduction::kFirstLargest:
        case Reduction::kLastLargest:
        case Reduction::kFirstSmallest:
        case Reduction::kLastSmallest: {
            if (a.index < 0) return b;
            if (b.index < 0) return a;
            const bool largest =
                reduction == Reduction::kFirstLargest || reduction == Reduction::kLastLargest;
            const bool last =
                reduction == Reduction::kLastLargest || reduction == Reduction::kLastSmallest;
            if (a.value == b.value) return (a.index < b.index) == last ? b : a;
            return (a.value < b.value) == largest ? b : a;
        }
        default:
            return {static_cast<T>(a.value + b.value), 0};
    }
}

template <class T>
__device__ __forceinline__ Best<T> fetch(const Reduce& p, int base, int i) {
    int index[kRowDims];
    row_index(i, p.reduced, index);
    const int offset = base + row_offset(index, p.in_reduced);
    T value = 0;
    with_type(p.in_type, p.in, [&](const auto* x) {
        if constexpr (std::is_same_v<T, float>)
            value = to_float(x[offset]);
        else if constexpr (std::is_integral_v<std::decay_t<decltype(*x)>>)
            value = static_cast<T>(x[offset]);
    });
    const bool squares = p.reduction == Reduction::kSquares || p.reduction == Reduction::kNorm;
    return {static_cast<T>(squares ? value * value : value), i};
}

template <class T>
__device__ __forceinline__ void put(const Reduce& p, const int (&kept)[kRowDims], Best<T> best) {
    const int out = row_offset(kept, p.out_kept);
    T value = best.value;
    if (p.reduction == Reduction::kMean) value /= static_cast<T>(p.extent);
    const bool place = p.reduction >= Reduction::kFirstLargest;
    if constexpr (std::is_same_v<T, float>) {
        if (p.reduction == Reduction::kNorm) value = sqrtf(value);
        if (place) {
            static_cast<long long*>(p.out)[out] = best.index;
            return;
        }
        const float v[1] = {value};
        store(p.out, p.out_type, out, 0, v);
    } else {
        if (p.reduction == Reduction::kNorm)
            value = static_cast<T>(sqrt(static_cast<double>(value)));
        if (place) value = best.index;
        with_type(p.out_type, p.out, [&](auto* to) {
            using U = std::remove_reference_t<decltype(*to)>;
            if constexpr (std::is_integral_v<U>) to[out] = static_cast<U>(value);
        });
    }
}

template <class T>
__device__ __forceinline__ void by_threads(const Reduce& p) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += gridDim.x * blockDim.x) {
        int kept[kRowDims];
        row_index(i, p.kept, kept);
        const int base = row_offset(kept, p.in_kept);
        Best<T> best = {identity<T>(p.reduction), -1};
        for (int j = 0; j < p.extent; ++j) best = combine(p.reduction, best, fetch<T>(p, base, j));
        put(p, kept, best);
    }
}

extern "C" __global__ void __launch_bounds__(256) reduce_thread(const Reduce p) {
    by_threads<float>(p);
}

extern "C" __global__ void __launch_bounds__(256) reduce_integer(const Reduce p) {
    by_threads<long long>(p);
}

extern "C" __global__ void __launch_bounds__(256) reduce_block(const Reduce p) {
    __shared__ Best<float> scratch[32];
    int kept[kRowDims];
    row_index(blockIdx.x, p.kept, kept);
    const int base = row_offset(kept, p.in_kept);
    Best<float> best = {identity<float>(p.reduction), -1};
    for (int j = threadIdx.x; j < p.extent; j += blockDim.x)
        best = combine(p.reduction, best, fetch<float>(p, base, j));
    const auto over_warp = [&] {
        for (int offset = 16; offset > 0; offset /= 2) {
            const Best<float> other = {__shfl_xor_sync(0xffffffffu, best.value, offset),
                                       __shfl_xor_sync(0xffffffffu, best.index, offset)};
            best = combine(p.reduction, best, other);
        }
    };
    over_warp();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) scratch[warp] = best;
    __syncthreads();
    if (warp != 0) return;
    best = {identity<float>(p.reduction), -1};
    if (lane < blockDim.x / 32) best = scratch[lane];
    over_warp();
    if (lane == 0) put(p, kept, best);
}

/// The warps of a block take every eighth element of 32 results each, its first one adds them up.
extern "C" __global__ void __launch_bounds__(32 * kColumnWarps) reduce_columns(const Reduce p) {
    __shared__ Best<float> scratch[kColumnWarps][32];
    const int i = blockIdx.x * 32 + threadIdx.x;
    int kept[kRowDims];
    row_index(min(i, p.count - 1), p.kept, kept);
    const int base = row_offset(kept, p.in_kept);
    Best<float> best = {identity<float>(p.reduction), -1};
    for (int j = threadIdx.y; j < p.extent; j += kColumnWarps)
        best = combine(p.reduction, best, fetch<float>(p, base, j));
    scratch[threadIdx.y][threadIdx.x] = best;
    __syncthreads();
    if (threadIdx.y != 0 || i >= p.count) return;
    for (int y = 1; y < kColumnWarps; ++y)
        best = combine(p.reduction, best, scratch[y][threadIdx.x]);
    put(p, kept, best);
}
