// SPDX-License-Identifier: Apache-2.0
// Where an element of several strided operands is.
#pragma once

#include "elements.cuh"

namespace lockstep::kernels {

/// The index of an element, of the dimensions from p.first on.
template <class P>
__device__ __forceinline__ void locate(const P& p, int element, int (&index)[kDims]) {
#pragma unroll
    for (int d = kDims - 1; d > 0; --d) {
        if (d > p.first)
            element = divide(element, p.extent[d], index[d]);
        else
            index[d] = d == p.first ? element : 0;
    }
    index[0] = p.first == 0 ? element : 0;
}

template <class P>
__device__ __forceinline__ int offset_of(const P& p, const Operand& x, const int (&index)[kDims]) {
    int offset = 0;
#pragma unroll
    for (int d = 0; d < kDims; ++d)
        if (d >= p.first) offset += index[d] * x.stride[d];
    return offset;
}

}  // namespace lockstep::kernels
