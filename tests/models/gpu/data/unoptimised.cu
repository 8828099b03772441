// SPDX-License-Identifier: Apache-2.0
// Kernels for control_flow_test.cpp as ptxas leaves them unoptimised: functions compare the stack
// pointer with the stack's limit, constants are read through registers. Compiled with
//   nvcc -Xptxas -O0 -arch=sm_XX -cubin -o unoptimised_sm_XX.cubin unoptimised.cu     (CUDA 13.0)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#define GLOBAL extern "C" __global__ void

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
GLOBAL recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

GLOBAL reduce_several_warps(int* out) {
    __shared__ cooperative_groups::block_tile_memory<256> scratch;
    auto block = cooperative_groups::this_thread_block(scratch);
    auto tile = cooperative_groups::tiled_partition<128>(block);
    const int t = threadIdx.x;
    out[t] = cooperative_groups::reduce(tile, t, cooperative_groups::plus<int>());
}
