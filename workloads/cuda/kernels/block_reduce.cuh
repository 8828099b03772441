// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over a warp (shuffles) and over a block (shuffles, then one value a warp through
// shared memory). Every thread of the block must call, and every thread gets the result.
#pragma once

struct Sum {
    static constexpr float kIdentity = 0.0f;
    __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
    static constexpr float kIdentity = -3.402823466e38f;
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class Op>
__device__ __forceinline__ float warp_reduce(float value, Op op) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    return value;
}

// blockDim.x must be a multiple of 32. `scratch`: 32 floats of shared memory.
template <class Op>
__device__ __forceinline__ float block_reduce(float value, Op op, float* scratch) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = warp_reduce(value, op);
    __syncthreads();  // the scratch may still be read by an earlier call
    if (lane == 0) scratch[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? scratch[lane] : Op::kIdentity;
    return warp_reduce(value, op);
}
