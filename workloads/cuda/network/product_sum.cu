// SPDX-License-Identifier: Apache-2.0
// The sums of a product whose k was cut: added in the order of the pieces, then the epilogue. A
// thread takes four columns; grid: (any, batches). `fours`: of columns by row.
#include "product.cuh"

using namespace lockstep::kernels;

/// The sums of four columns of a line over all pieces; `pitch` floats from piece to piece.
__device__ __forceinline__ void add_pieces(const Product& p, const float* from, size_t pitch,
                                           int column, float (&v)[4]) {
    const bool fours = p.n % 4 == 0;
#pragma unroll 4
    for (int split = 0; split < p.splits; ++split) {
        const float* const piece = from + split * pitch;
        float x[4];
        if (fours) {
            load_four(piece, x);
        } else {
#pragma unroll
            for (int i = 0; i < 4; ++i) x[i] = column + i < p.n ? piece[i] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] += x[i];
    }
}

extern "C" __global__ void __launch_bounds__(256)
    product_sum(const Product p, const Divider fours) {
    const int batches = gridDim.y, rows = batches * p.m;
    const size_t pitch = static_cast<size_t>(rows) * p.n;
    for (int unit = blockIdx.x * blockDim.x + threadIdx.x; unit < p.m * fours.divisor;
         unit += gridDim.x * blockDim.x) {
        int column;
        const int row = divide(unit, fours, column);
        column *= 4;
        const int batch = blockIdx.y, line = batch * p.m + row;
        float v[1][4] = {};
        add_pieces(p, p.partial + static_cast<size_t>(line) * p.n + column, pitch, column, v[0]);
        const Batch at(p, batch);
        const auto offset = [&](const int(&stride)[kBatchDims]) { return at.offset(stride); };
        if (!p.epilogue.is_simple) {
            run_epilogue(p.epilogue, v[0], row, column, p.n, offset);
            continue;
        }
        const int rows_of[1] = {row}, columns_of[1] = {column};
        const bool valid[1] = {true};
        if (p.epilogue.type == Type::kFp32)
            run_simple<float>(p.epilogue, v, rows_of, columns_of, valid, offset);
        else if (p.epilogue.type == Type::kFp16)
            run_simple<__half>(p.epilogue, v, rows_of, columns_of, valid, offset);
        else
            run_simple<__nv_bfloat16>(p.epilogue, v, rows_of, columns_of, valid, offset);
    }
}
