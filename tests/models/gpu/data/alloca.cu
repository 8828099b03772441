// SPDX-License-Identifier: Apache-2.0
// A kernel for control_flow_test.cpp whose stack grows by what it is given. Compiled with
//   nvcc -arch=sm_XX -cubin -o alloca_sm_XX.cubin alloca.cu     (CUDA 13.0)
#include <alloca.h>

/// out[t] = the sum of i * i below t, by way of an array of t elements.
extern "C" __global__ void sum_of_squares(int* out) {
    const int n = static_cast<int>(threadIdx.x);
    int* squares = static_cast<int*>(alloca(n * sizeof(int)));
    for (int i = 0; i < n; ++i) squares[i] = i * i;
    __threadfence_block();
    int sum = 0;
    for (int i = n - 1; i >= 0; --i) sum += squares[i];
    out[n] = sum;
}
