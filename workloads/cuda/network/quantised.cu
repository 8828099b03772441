// SPDX-License-Identifier: Apache-2.0
// int8 values with scales, element by element: sums, products, other scales, functions by tables;
// and convolutions of each channel by itself. Any grid.
#include "quantised.cuh"

using namespace lockstep::kernels;

extern "C" __global__ void __launch_bounds__(256) map_quantised(const QuantisedMap p) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += gridDim.x * blockDim.x) {
        int rest = i, out = 0, in[2] = {};
#pragma unroll
        for (int d = kDims - 1; d >= 0; --d) {
            if (d < p.first) break;
            int index = rest;
            if (d > p.first) rest = divide(rest, p.extent[d], index);
            out += index * p.out.stride[d];
            in[0] += index * p.in[0].stride[d];
            in[1] += index * p.in[1].stride[d];
        }
        const int x = static_cast<const signed char*>(p.in[0].data)[in[0]] - p.zero_in[0];
        int value = 0;
        if (p.work == QuantisedWork::kTable) {
            value = static_cast<const signed char*>(p.table)[x + 128];
        } else if (p.work == QuantisedWork::kRequantise) {
            value = requantise(x, p.factor[0], p.shift, p.zero, p.low, p.high);
        } else {
            const int y = static_cast<const signed char*>(p.in[1].data)[in[1]] - p.zero_in[1];
            if (p.work == QuantisedWork::kProduct) {
                value = requantise(x * y, p.factor[0], p.shift, p.zero, p.low, p.high);
            } else {
                const long long sum = static_cast<long long>(x) * p.factor[0] +
                                      static_cast<long long>(y) * p.factor[1];
                value =
                    limited(((sum + (1ll << (p.shift - 1))) >> p.shift) + p.zero, p.low, p.high);
            }
        }
        static_cast<signed char*>(p.out.data)[out] = static_cast<signed char>(value);
    }
}

extern "C" __global__ void __launch_bounds__(256) depthwise_int8(const Depthwise p) {
    const int count = p.rows * p.channels;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int channel, line, column;
        const int row = divide(i, p.units, channel);
        const int image = divide(row, p.pixels, line);
        line = divide(line, p.width, column);
        const signed char* const x = static_cast<const signed char*>(p.x) + image * p.x_image +
                                     channel / p.multiplier * p.x_channel;
        const signed char* w = static_cast<const signed char*>(p.w) + channel;
        int sum[4] = {};
        for (int tap_y = 0; tap_y < p.taps_y; ++tap_y) {
            const int y = line * p.step_y + tap_y * p.dilation_y - p.pad_y;
            for (int tap_x = 0; tap_x < p.taps_x; ++tap_x, w += p.channels) {
                const int at = column * p.step_x + tap_x * p.dilation_x - p.pad_x;
                if (static_cast<unsigned>(y) < static_cast<unsigned>(p.in_y) &&
                    static_cast<unsigned>(at) < static_cast<unsigned>(p.in_x))
                    sum[0] += x[y * p.x_y + at * p.x_x] * *w;
            }
        }
        // One column: the last one, as it were.
        put_integers(p.epilogue, sum, row, channel, channel + 1, 0, 0, 0);
    }
}
