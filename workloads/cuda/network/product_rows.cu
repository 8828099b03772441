// SPDX-License-Identifier: Apache-2.0
// Products of a few rows, which read B once and wait for nothing else: a warp for each column, its
// lanes along k, whose elements are consecutive in both operands (Product::a_vector, b_vector and
// one tap). Block: kRowsColumns warps; grid: (groups of columns, 1, batches). At most kFewRows
// rows.
#include "product.cuh"

using namespace lockstep::kernels;

/// 16 bytes as floats.
template <class T, int W>
__device__ __forceinline__ void load_chunk(const T* from, float (&v)[W]) {
    if constexpr (W == 4) {
        load_vector(from, Type::kFp32, 0, v);
    } else {
        constexpr Type kType = std::is_same_v<T, __half> ? Type::kFp16 : Type::kBf16;
        float low[4], high[4];
        load_vector(from, kType, 0, low);
        load_vector(from, kType, 4, high);
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = low[i], v[i + 4] = high[i];
    }
}

template <class T>
__device__ __forceinline__ void few_rows(const Product& p) {
    constexpr int kWidth = 16 / sizeof(T);
    const int lane = threadIdx.x % 32, column = blockIdx.x * kRowsColumns + threadIdx.x / 32;
    if (column >= p.n) return;
    const Batch at(p, blockIdx.z);
    const T* const a = static_cast<const T*>(p.a) + at.offset(p.a_batch);
    const T* const b =
        static_cast<const T*>(p.b) + at.offset(p.b_batch) + static_cast<size_t>(column) * p.b_n;
    float sum[kFewRows] = {};
#pragma unroll 4
    for (int k = lane * kWidth; k < p.k; k += 32 * kWidth) {
        float w[kWidth];
        load_chunk(b + k, w);
#pragma unroll
        for (int row = 0; row < kFewRows; ++row) {
            if (row >= p.m) break;
            float x[kWidth];
            load_chunk(a + row * p.a_image + k, x);
#pragma unroll
            for (int i = 0; i < kWidth; ++i) sum[row] += x[i] * w[i];
        }
    }
#pragma unroll
    for (int row = 0; row < kFewRows; ++row) {
        if (row >= p.m) break;
        for (int offset = 16; offset > 0; offset /= 2)
            sum[row] += __shfl_xor_sync(0xffffffffu, sum[row], offset);
    }
    float mine = sum[0];
#pragma unroll
    for (int row = 1; row < kFewRows; ++row)
        if (lane == row) mine = sum[row];
    if (lane >= p.m) return;
    float v[1] = {mine};
    run_epilogue(p.epilogue, v, lane, column, p.n,
                 [&](const int(&stride)[kBatchDims]) { return at.offset(stride); });
}

extern "C" __global__ void __launch_bounds__(32 * kRowsColumns) product_rows_fp32(const Product p) {
    few_rows<float>(p);
}

extern "C" __global__ void __launch_bounds__(32 * kRowsColumns) product_rows_fp16(const Product p) {
    few_rows<__half>(p);
}

extern "C" __global__ void __launch_bounds__(32 * kRowsColumns) product_rows_bf16(const Product p) {
    few_rows<__nv_bfloat16>(p);
}
