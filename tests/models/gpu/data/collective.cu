// SPDX-License-Identifier: Apache-2.0
// Warp-wide operations that lanes come to from different places, and in loops that some lanes have
// left. Compiled to cubins beside this file with
//   nvcc -std=c++17 -cubin -arch=sm_XX -o collective_sm_XX.cubin collective.cu
extern "C" {

// --- All lanes come, each to a call of its own: defined since Volta. ---

__global__ void shuffles_from_two_places(int* out) {
    const int lane = threadIdx.x % 32, v = 100 + threadIdx.x;
    if (lane < 16)
        out[threadIdx.x] = (__shfl_xor_sync(~0u, v, 16) + 1000) * 2;
    else
        out[threadIdx.x] = (__shfl_xor_sync(~0u, v * 3, 16) + 2000) * 3;
}

__global__ void ballots_from_three_places(unsigned* out) {
    const int lane = threadIdx.x % 32;
    if (lane % 4 == 0)
        out[threadIdx.x] = __ballot_sync(~0u, lane < 8) + 1;
    else if (lane % 4 == 1)
        out[threadIdx.x] = __ballot_sync(~0u, lane < 16) + 2;
    else
        out[threadIdx.x] = __ballot_sync(~0u, lane < 24) + 3;
}

/// Lanes meet from different trips of different loops.
__global__ void sums_from_two_loops(int* out) {
    const int lane = threadIdx.x % 32;
    int sum = 0;
    if (lane % 2)
        for (int i = 0; i < 5; ++i) sum += __shfl_xor_sync(~0u, lane * i, 1);
    else
        for (int i = 5; i > 0; --i) sum -= __shfl_xor_sync(~0u, lane + i, 1);
    out[threadIdx.x] = sum;
}

/// Half of the lanes have a mask of their own.
__global__ void halves(int* out) {
    const int lane = threadIdx.x % 32;
    if (lane < 16)
        out[threadIdx.x] = __shfl_xor_sync(0xffffu, lane, 15);
    else
        out[threadIdx.x] = __shfl_xor_sync(0xffff0000u, 2 * lane, 15);
}

// --- Some lanes have left the loop: not defined, yet programs do it. Sums are over 8 lanes, which
// --- leave together, so that no lane reads one that has left.

__device__ float sum_of_8(float v) {
    for (int offset = 4; offset > 0; offset /= 2) v += __shfl_down_sync(~0u, v, offset, 8);
    return v;
}

__global__ void sums_in_a_loop(float* out, const float* in, int n) {
    float total = 0;
    for (int i = threadIdx.x % 32; i < n; i += 32) total += sum_of_8(in[i]);
    out[threadIdx.x] = total;
}

/// The loop within a loop: lanes wait at several convergence barriers.
__global__ void sums_in_nested_loops(float* out, const float* in, int n) {
    const int group = threadIdx.x % 32 / 8;
    float total = 0;
    for (int outer = 0; outer <= group; ++outer) {
        float sum = 0;
        for (int i = threadIdx.x % 8; i < n * (outer + group); i += 8) sum += sum_of_8(in[i]);
        total = total * 2 + sum_of_8(sum);
    }
    out[threadIdx.x] = total;
}

__global__ void ballots_in_a_loop(unsigned* out, int n) {
    unsigned seen = 0;
    for (int i = threadIdx.x % 32; i < n; i += 32) seen = __ballot_sync(~0u, i % 2);
    out[threadIdx.x] = seen;
}

}  // extern "C"
