// SPDX-License-Identifier: Apache-2.0
// With callee.cu: a program in two files, compiled with -rdc=true and linked on the device.
#include <cstdio>

extern __device__ int variable;
extern __device__ int helper(int);
extern __constant__ int constants[4];
extern __device__ int (*function_pointer)(int);
extern __shared__ int dynamic[];

__device__ __noinline__ int local_helper(int x) { return x * 7; }

extern "C" __global__ void caller(int* p, int n) {
    __shared__ int fixed[32];
    fixed[threadIdx.x] = n;
    dynamic[threadIdx.x] = n;
    __syncthreads();
    *p = helper(n) + variable + constants[n] + function_pointer(n) + local_helper(n) +
         fixed[n & 31] + dynamic[n];
    printf("%d", n);
}
