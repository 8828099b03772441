// SPDX-License-Identifier: Apache-2.0
// The largest element or the mean of windows over images. Any grid; a thread computes one element
// of the result, in the order of its memory.
#include "quantised.cuh"

using namespace lockstep::kernels;

template <bool IsQuantised>
__device__ __forceinline__ void pool_windows(const Pool& p) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += gridDim.x * blockDim.x) {
        int index[4], rest = i, in = 0, out = 0, y = 0, x = 0;
#pragma unroll
        for (int d = 3; d > 0; --d) rest = divide(rest, p.extent[d], index[d]);
        index[0] = rest;
#pragma unroll
        for (int d = 0; d < 4; ++d) {
            out += index[d] * p.out_stride[d];
            if (d == p.y)
                y = index[d] * p.step_y - p.pad_y;
            else if (d == p.x)
                x = index[d] * p.step_x - p.pad_x;
            else
                in += index[d] * p.in_stride[d];
        }
        int stride_y = 0, stride_x = 0;
#pragma unroll
        for (int d = 0; d < 4; ++d) {
            if (d == p.y) stride_y = p.in_stride[d];
            if (d == p.x) stride_x = p.in_stride[d];
        }
        const bool maximum = p.pooling == Pooling::kMaximum;
        float value[1] = {maximum ? -3.402823466e38f : 0.0f};
        int counted = 0, counted_inside = 0;
        with_type(p.in_type, p.in, [&](const auto* from) {
            for (int tap_y = 0; tap_y < p.taps_y; ++tap_y) {
                const int at_y = y + tap_y * p.dilation_y;
                for (int tap_x = 0; tap_x < p.taps_x; ++tap_x) {
                    const int at_x = x + tap_x * p.dilation_x;
                    const bool inside =
                        static_cast<unsigned>(at_y) < static_cast<unsigned>(p.in_y) &&
                        static_cast<unsigned>(at_x) < static_cast<unsigned>(p.in_x);
                    counted += inside || (p.counts_padding && at_y < p.end_y && at_x < p.end_x);
                    if (!inside) continue;
                    ++counted_inside;
                    const float v = to_float(from[in + at_y * stride_y + at_x * stride_x]);
                    value[0] = maximum ? (value[0] < v ? v : value[0]) : value[0] + v;
                }
            }
        });
        if constexpr (IsQuantised) {
            // The sum is exact: at most 2^16 elements of 8 bits.
            const int number = max(counted, 1);
            const int sum = static_cast<int>(value[0]) - counted_inside * p.zero_in;
            static_cast<signed char*>(p.out)[out] = static_cast<signed char>(
                requantise(sum, static_cast<const int*>(p.multipliers)[number],
                           static_cast<const int*>(p.shifts)[number], p.zero, p.low, p.high));
            continue;
        }
        if (!maximum) value[0] /= static_cast<float>(counted > 1 ? counted : 1);
        store(p.out, p.out_type, out, 0, value);
    }
}

extern "C" __global__ void __launch_bounds__(256) pool(const Pool p) {
    pool_windows<false>(p);
}

/// Means of int8.
extern "C" __global__ void __launch_bounds__(256) pool_quantised(const Pool p) {
    pool_windows<true>(p);
}
