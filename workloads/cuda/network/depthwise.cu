// SPDX-License-Identifier: Apache-2.0
// Convolutions in which each channel has a window of its own (and `multiplier` filters): nothing is
// shared between channels, so each thread reads its own window. Sums in FP32. Any grid; a thread
// computes one channel of a position (depthwise_*1) or four consecutive ones (depthwise_*4).
#include "functions.cuh"
#include "product.cuh"

using namespace lockstep::kernels;

template <class T, int W>
__device__ __forceinline__ void depthwise(const Depthwise& p) {
    constexpr Type kType = std::is_same_v<T, float>    ? Type::kFp32
                           : std::is_same_v<T, __half> ? Type::kFp16
                                                       : Type::kBf16;
    const int units = p.units.divisor, count = p.rows * units;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int unit, line, column;
        const int row = divide(i, p.units, unit);
        const int image = divide(row, p.pixels, line);
        line = divide(line, p.width, column);
        const int channel = unit * W;
        const T* const x =
            static_cast<const T*>(p.x) + image * p.x_image + channel / p.multiplier * p.x_channel;
        const T* w = static_cast<const T*>(p.w) + channel;
        float sum[W] = {};
        for (int tap_y = 0; tap_y < p.taps_y; ++tap_y) {
            const int y = line * p.step_y + tap_y * p.dilation_y - p.pad_y;
            for (int tap_x = 0; tap_x < p.taps_x; ++tap_x, w += p.channels) {
                const int at = column * p.step_x + tap_x * p.dilation_x - p.pad_x;
                if (static_cast<unsigned>(y) >= static_cast<unsigned>(p.in_y) ||
                    static_cast<unsigned>(at) >= static_cast<unsigned>(p.in_x))
                    continue;
                const int offset = y * p.x_y + at * p.x_x;
                if constexpr (W == 4) {
                    float a[4], b[4];
                    load_vector(x, kType, offset, a);
                    load_vector(w, kType, 0, b);
#pragma unroll
                    for (int j = 0; j < 4; ++j) sum[j] += a[j] * b[j];
                } else {
                    sum[0] += to_float(x[offset]) * to_float(w[0]);
                }
            }
        }
        run_epilogue(p.epilogue, sum, row, channel, p.channels,
                     [](const int(&)[kBatchDims]) { return 0; });
    }
}

#define KERNELS(name, type)                                                        \
    extern "C" __global__ void __launch_bounds__(256) name##1(const Depthwise p) { \
        depthwise<type, 1>(p);                                                     \
    }                                                                              \
    extern "C" __global__ void __launch_bounds__(256) name##4(const Depthwise p) { \
        depthwise<type, 4>(p);                                                     \
    }

KERNELS(depthwise_fp32_, float)
KERNELS(depthwise_fp16_, __half)
KERNELS(depthwise_bf16_, __nv_bfloat16)
