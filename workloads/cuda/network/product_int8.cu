// SPDX-License-Identifier: Apache-2.0
// int8 by int8 into int32, requantised to int8 on the way out; and what adds the pieces of a k that
// was cut.
#include "product_tensor.cuh"

using namespace lockstep::kernels;

TENSOR_KERNELS(product_int8, Int8Product)

extern "C" __global__ void __launch_bounds__(256)
    product_int8_sum(const Product p, const Divider fours) {
    const int batch = blockIdx.y, batches = gridDim.y;
    const size_t pitch = static_cast<size_t>(batches) * p.m * p.n;
    const Batch at(p, batch);
    const Epilogue& e = p.epilogue;
    for (int unit = blockIdx.x * blockDim.x + threadIdx.x; unit < p.m * fours.divisor;
         unit += gridDim.x * blockDim.x) {
        int column;
        const int row = divide(unit, fours, column);
        column *= 4;
        const int* from = reinterpret_cast<const int*>(p.partial) +
                          (static_cast<size_t>(batch) * p.m + row) * p.n + column;
        int sum[4] = {};
#pragma unroll 4
        for (int split = 0; split < p.splits; ++split, from += pitch)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (column + i < p.n) sum[i] += from[i];
        put_integers(e, sum, row, column, p.n, at.offset(e.operand[0].batch),
                     at.offset(e.operand[1].batch), at.offset(e.batch));
    }
}
