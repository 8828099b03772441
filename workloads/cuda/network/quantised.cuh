// SPDX-License-Identifier: Apache-2.0
// From int32 sums to int8, to the bit as sim/numerics/requantise.h: a 31-bit multiplier and a
// shift, one rounding, ties toward plus infinity.
#pragma once

#include "elements.cuh"

namespace lockstep::kernels {

__device__ __forceinline__ int limited(long long value, int low, int high) {
    return static_cast<int>(value < low ? low : value > high ? high : value);
}

__device__ __forceinline__ int requantise(int sum, int multiplier, int shift, int zero, int low,
                                          int high) {
    const long long half = 1ll << (shift - 1);
    return limited(((static_cast<long long>(sum) * multiplier + half) >> shift) + zero, low, high);
}

/// The epilogue of an integer product: four columns of a row.
__device__ __forceinline__ void put_integers(const Epilogue& e, const int (&sum)[4], int row,
                                             int column, int columns, int bias, int scale,
                                             int out) {
    const int low = static_cast<int>(e.low), high = static_cast<int>(e.high);
    const int* const biases = static_cast<const int*>(e.operand[0].data);
    const int* const multipliers = static_cast<const int*>(e.operand[1].data);
    const int* const shifts = static_cast<const int*>(e.operand[2].data);
    int value[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int at = min(column + i, columns - 1);
        const int added = e.bias < 0 ? 0 : biases[bias + at];
        const int by = scale + at * e.operand[1].column;
        value[i] = requantise(sum[i] + added, multipliers[by], shifts[by], 0, low, high);
    }
    signed char* const to = static_cast<signed char*>(e.out) + out + row * e.row + column;
    if (e.vector && column + 3 < columns) {
        *reinterpret_cast<char4*>(to) = make_char4(value[0], value[1], value[2], value[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (column + i < columns) to[i] = static_cast<signed char>(value[i]);
}

}  // namespace lockstep::kernels
