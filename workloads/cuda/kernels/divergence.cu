// SPDX-License-Identifier: Apache-2.0
// Warps that diverge, for looking at and for teaching. y[i] = f(x[i]), a chain of multiply-adds a thread; what
// differs is which threads take which way. Block: any; grid: any. `work` is only known at run time, so that the
// compiler makes branches and no predicates.

__device__ __forceinline__ float chain(float value, float factor, int work) {
#pragma unroll 1
    for (int i = 0; i < work; ++i) value = value * factor + 1.0f;
    return value;
}

// Lanes below `split` take one side, the others the other; each side is `work` long.
extern "C" __global__ void divergence_sides(const float* x, float* y, int n, int split, int work) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    if (i % 32 < split) {
        value = chain(value, 0.5f, work);
    } else {
        value = chain(value, -0.25f, work);
    }
    y[i] = value + 1.0f;
}

// The same number of threads takes each side, but whole warps do.
extern "C" __global__ void divergence_warps(const float* x, float* y, int n, int split, int work) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    if (i % blockDim.x < blockDim.x / 32 * split) {
        value = chain(value, 0.5f, work);
    } else {
        value = chain(value, -0.25f, work);
    }
    y[i] = value + 1.0f;
}

// Lane l goes through the loop l % split + 1 times `work`: the warp as often as its longest lane.
extern "C" __global__ void divergence_loop(const float* x, float* y, int n, int split, int work) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = chain(x[i], 0.5f, work * (i % 32 % split + 1)) + 1.0f;
}

// A side within a side: three ways through.
extern "C" __global__ void divergence_nested(const float* x, float* y, int n, int split, int work) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    if (i % 32 < split) {
        if (i % 2 == 0) {
            value = chain(value, 0.5f, work);
        } else {
            value = chain(value, 0.75f, work);
        }
        value = value - 1.0f;
    } else {
        value = chain(value, -0.25f, work);
    }
    y[i] = value + 1.0f;
}
