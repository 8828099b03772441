// SPDX-License-Identifier: Apache-2.0
// The sums of a product whose k was cut: added in the order of the pieces, then the epilogue. Any
// grid; a thread takes four columns. The batches of the product are its own.
#include "product.cuh"

using namespace lockstep::kernels;

extern "C" __global__ void __launch_bounds__(256) product_sum(const Product p, int batches) {
    const int fours = (p.n + 3) / 4, rows = batches * p.m;
    const size_t pitch = static_cast<size_t>(rows) * p.n;
    for (int unit = blockIdx.x * blockDim.x + threadIdx.x; unit < rows * fours;
         unit += gridDim.x * blockDim.x) {
        const int line = unit / fours, column = unit % fours * 4;
        const int batch = line / p.m, row = line - batch * p.m;
        const float* from = p.partial + static_cast<size_t>(line) * p.n + column;
        float v[4] = {};
        for (int split = 0; split < p.splits; ++split, from += pitch) {
            float x[4];
            if (p.n % 4 == 0) {
                *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(from);
            } else {
                for (int i = 0; i < 4; ++i) x[i] = column + i < p.n ? from[i] : 0.0f;
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) v[i] += x[i];
        }
        const Batch at(p, batch);
        run_epilogue(p.epilogue, v, row, column, p.n,
                     [&](const int(&stride)[kBatchDims]) { return at.offset(stride); });
    }
}
